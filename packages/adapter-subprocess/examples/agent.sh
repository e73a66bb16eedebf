#!/usr/bin/env bash
# Runs the scripts that its user names, one a step: a prompt and a steer are names of files. Needs bash 4.
tell() { printf '{"type":"%s"%s}\n' "$1" "${2:+,$2}"; }

# Waits a moment for a line. What has come of a line that is not complete yet is kept.
hear() {
  local piece status=0
  IFS= read -r -t 0.1 piece || status=$?
  line+=$piece
  [ "$status" -eq 0 ] || { [ "$status" -gt 128 ] && return 1; exit; }
  heard=$line line=''
  id=${heard#*\"id\":\"}
}

# The text is the last member of its line; names need no unescaping, several messages stand on lines of their own.
add_scripts() {
  local text=${heard#*\"text\":\"}
  scripts+=" ${text%\"\}}"
  scripts=${scripts//\\n/ }
}

run_script() {
  tell tool "\"id\":\"$((tool += 1))\",\"title\":\"$1\",\"kind\":\"execute\""
  bash "./$1" >/dev/null 2>&1 </dev/null &
  while kill -0 $! 2>/dev/null; do
    hear && case $heard in
      '{"type":"steer"'*) add_scripts; tell delivered "\"id\":\"${id%%\"*}\"" ;;
      '{"type":"interrupt"'*) scripts=''; kill $! ;;
    esac
  done
  if wait $!; then status=completed; else status=failed; fi
  tell tool "\"id\":\"$tool\",\"status\":\"$status\""
}

tell hello '"version":1,"name":"Script runner","steer":"nextStep"'
while :; do
  hear && [[ $heard == '{"type":"prompt"'* ]] && scripts='' && add_scripts || continue
  while read -r next scripts <<<"$scripts" && [ "$next" ]; do run_script "$next"; done
  tell done
done
