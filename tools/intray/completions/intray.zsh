#compdef intray
# zsh completion for intray(1).

_intray_root() {
  local i=${words[(i)--root]}
  (( i < $#words )) && print -r -- --root ${(Q)words[i + 1]}
}

_intray_jobs() {
  local -a ids
  ids=(${(f)"$(_call_program jobs intray ls -1 -a -t --limit 2000 $(_intray_root) 2>/dev/null)"})
  compadd -a ids
}

_intray_codes() {
  local -a codes
  codes=(${(f)"$(_call_program codes intray explain 2>/dev/null | awk 'NR > 1 { print $1 }')"})
  compadd -M 'm:{a-z}={A-Z}' -a codes
}

_intray_listing() {
  compadd -M 'm:{a-z}={A-Z}' NEW CREATED READY CLAIMED EXECUTING RETRYABLE SUCCEEDED FAILED REJECTED OUTCOME_UNKNOWN UNKNOWN
  compadd save delete
}

_intray() {
  local curcontext=$curcontext state line
  local -A opt_args
  local -a common=('--root[the site]:directory:_directories' '--json[one JSON object a line]' '(-h --help)'{-h,--help}'[help]')
  local -a times=('--utc[times in UTC]')
  _arguments -C $common $times '--version[print the version]' \
    '1:command:((init\:"make a site" submit\:"hand over jobs" ls\:"list jobs" show\:"everything known of one job" log\:"the audit trail" explain\:"a code in plain words" config\:"the settings" doctor\:"prove the boundary between users"))' \
    '*::argument:->rest'
  [[ $state == rest ]] || return
  case $words[1] in
    init)
      _arguments $common '--user-mode[for one user]' '--config-dir:directory:_directories' '--receiver:url:' '--credential:file:_files' \
        '--ca-file:file:_files' '--mirror:directory:_directories' '*--branch:branch:' '--tenant:name:' '--namespace:namespace:' \
        '*--requester:user:_users' '*--set:key=value:' ;;
    submit)
      local -a send=($common '--batch[sync once for many]' '--dry-run[print, hand nothing over]' '--force[hand over what is refused here]' '--wait=-[wait for the outcome]::seconds:')
      if [[ $words[2] == save ]]; then
        _arguments $send '1:kind:(save)' '--repo:directory:_directories' '--commit:commit:' '*--path:path:' '--all[every note]' \
          '--object:id:' '--mission:id:' '--idempotency-key:key:' '*--branch:branch:' '--vault-root:path:' '--prefix:path:'
      else
        _arguments $send '*:job file:_alternative "kind:kind:(save)" "files:file:_files"'
      fi ;;
    ls) _arguments $common $times '(-a --all)'{-a,--all}'[ended jobs too]' '(-l --long)'{-l,--long}'[more columns]' '-t[newest first]' \
      '(-r --reverse)'{-r,--reverse}'[other way round]' '-1[ids alone]' '--limit:number:' '*:what:_intray_listing' ;;
    show) _arguments $common $times '1:job:_intray_jobs' ;;
    log) _arguments $common $times '(-f --follow)'{-f,--follow}'[go on]' '1:job:_intray_jobs' ;;
    explain) _arguments '--json[one JSON object a line]' '1:code:_intray_codes' ;;
    doctor) _arguments $common ;;
    config) _arguments $common '1:what:(check)' '2:file:_files -g "*.toml"' ;;
  esac
}

_intray "$@"
