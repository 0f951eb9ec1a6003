# bash completion for intray(1).

_intray_jobs() {
  # Ids of what a person most likely means: what is not over, newest first.
  local id
  [[ ${#1} -ge 1 ]] || { intray ls -1 -t --limit 50 "${_intray_root[@]}" 2>/dev/null; return; }
  intray ls -1 -a -t --limit 2000 "${_intray_root[@]}" 2>/dev/null | while read -r id; do
    [[ $id == "$1"* ]] && echo "$id"
  done
}

_intray() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' sub='' i
  local states='NEW CREATED READY CLAIMED EXECUTING RETRYABLE SUCCEEDED FAILED REJECTED OUTCOME_UNKNOWN UNKNOWN'
  local _intray_root=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --root) _intray_root=(--root "${COMP_WORDS[i + 1]}"); ((i++)) ;;
      -*) ;;
      *) if [[ -z $command ]]; then command=${COMP_WORDS[i]}; elif [[ -z $sub ]]; then sub=${COMP_WORDS[i]}; fi ;;
    esac
  done
  COMPREPLY=()
  case $prev in
    --root | --config-dir | --repo | --mirror) mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
    --credential | --ca-file) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
    --receiver | --branch | --tenant | --namespace | --set | --commit | --path | --object | --mission | --idempotency-key | \
      --vault-root | --prefix | --limit) return ;;
    --requester) mapfile -t COMPREPLY < <(compgen -u -- "$cur"); return ;;
  esac
  local words=''
  if [[ $cur == -* ]]; then
    case $command in
      '') words='--help --version --root --json --utc' ;;
      init) words='--root --user-mode --config-dir --receiver --credential --ca-file --mirror --branch --tenant --namespace --requester --set --json --help' ;;
      submit)
        words='--batch --dry-run --force --wait --root --json --help'
        [[ $sub == save ]] && words+=' --repo --commit --path --all --object --mission --idempotency-key --branch --vault-root --prefix' ;;
      ls) words='--all --long --reverse --limit --root --json --utc --help -a -l -t -r -1' ;;
      show) words='--root --json --utc --help' ;;
      log) words='--follow --root --json --utc --help' ;;
      explain) words='--json --help' ;;
      config) words='--root --json --help' ;;
      doctor) words='--root --json --help' ;;
    esac
  else
    case $command in
      '') words='init submit ls show log explain config doctor' ;;
      submit)
        mapfile -t COMPREPLY < <(compgen -f -- "$cur"; [[ -z $sub ]] && compgen -W save -- "$cur")
        return ;;
      ls) words="save delete $states"; [[ $cur == [a-z]* ]] && words+=" ${states,,}" ;;
      show | log) words=$(_intray_jobs "$cur") ;;
      explain) words=$(intray explain 2>/dev/null | awk 'NR > 1 { print $1 }'); cur=${cur^^} ;;
      config)
        [[ $sub == check ]] && { mapfile -t COMPREPLY < <(compgen -f -X '!*.toml' -- "$cur"; compgen -d -- "$cur"); return; }
        words=check ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -o filenames -o bashdefault -F _intray intray
