# fish completion for intray(1).

function __intray_root
    set -l words (commandline -opc)
    set -l at (contains -i -- --root $words); or return
    set -q words[(math $at + 1)]; and printf '%s\n' --root $words[(math $at + 1)]
end

function __intray_jobs
    intray ls -1 -a -t --limit 2000 (__intray_root) 2>/dev/null
end

function __intray_codes
    intray explain 2>/dev/null | awk 'NR > 1 { print $1 }'
end

complete -c intray -f
complete -c intray -s h -l help -d 'Help'
complete -c intray -l root -x -a '(__fish_complete_directories)' -d 'The site'
complete -c intray -l json -d 'One JSON object a line'
complete -c intray -l utc -d 'Times in UTC'
complete -c intray -n __fish_use_subcommand -l version -d 'Version'
complete -c intray -n __fish_use_subcommand -a init -d 'Make a site'
complete -c intray -n __fish_use_subcommand -a submit -d 'Hand over jobs'
complete -c intray -n __fish_use_subcommand -a ls -d 'List jobs'
complete -c intray -n __fish_use_subcommand -a show -d 'Everything known of one job'
complete -c intray -n __fish_use_subcommand -a log -d 'The audit trail'
complete -c intray -n __fish_use_subcommand -a explain -d 'A code in plain words'
complete -c intray -n __fish_use_subcommand -a config -d 'The settings'
complete -c intray -n __fish_use_subcommand -a doctor -d 'Prove the boundary between users'

set -l init '__fish_seen_subcommand_from init'
complete -c intray -n $init -l user-mode -d 'For one user'
complete -c intray -n $init -l config-dir -x -a '(__fish_complete_directories)'
complete -c intray -n $init -l mirror -x -a '(__fish_complete_directories)'
complete -c intray -n $init -l credential -r -F
complete -c intray -n $init -l ca-file -r -F
complete -c intray -n $init -l requester -x -a '(__fish_complete_users)'
for option in receiver branch tenant namespace set
    complete -c intray -n $init -l $option -x
end

set -l submit '__fish_seen_subcommand_from submit'
complete -c intray -n "$submit; and not __fish_seen_subcommand_from save" -F -a save -d 'Notes of a git repository'
complete -c intray -n $submit -l batch -d 'Sync once for many'
complete -c intray -n $submit -l dry-run -d 'Print, hand nothing over'
complete -c intray -n $submit -l force -d 'Hand over what is refused here'
complete -c intray -n $submit -l wait -d 'Wait for the outcome'
set -l save '__fish_seen_subcommand_from submit; and __fish_seen_subcommand_from save'
complete -c intray -n $save -l repo -x -a '(__fish_complete_directories)'
complete -c intray -n $save -l all -d 'Every note'
for option in commit path object mission idempotency-key branch vault-root prefix
    complete -c intray -n $save -l $option -x
end

set -l ls '__fish_seen_subcommand_from ls'
complete -c intray -n $ls -a 'save delete NEW CREATED READY CLAIMED EXECUTING RETRYABLE SUCCEEDED FAILED REJECTED OUTCOME_UNKNOWN UNKNOWN'
complete -c intray -n $ls -s a -l all -d 'Ended jobs too'
complete -c intray -n $ls -s l -l long -d 'More columns'
complete -c intray -n $ls -s t -d 'Newest first'
complete -c intray -n $ls -s r -l reverse -d 'Other way round'
complete -c intray -n $ls -s 1 -d 'Ids alone'
complete -c intray -n $ls -l limit -x

complete -c intray -n '__fish_seen_subcommand_from show log' -a '(__intray_jobs)'
complete -c intray -n '__fish_seen_subcommand_from log' -s f -l follow -d 'Go on'
complete -c intray -n '__fish_seen_subcommand_from explain' -a '(__intray_codes)'
complete -c intray -n '__fish_seen_subcommand_from config; and not __fish_seen_subcommand_from check' -a check
complete -c intray -n '__fish_seen_subcommand_from config; and __fish_seen_subcommand_from check' -F
