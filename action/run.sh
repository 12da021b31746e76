#!/usr/bin/env bash
# Runs what action.yml's inputs ask for. They come by environment: none of them is ever part of a script.
set -euo pipefail
touchstone="$RUNNER_TEMP/touchstone-bin/touchstone"
directory="${TOUCHSTONE_OUTPUT_DIR:-$RUNNER_TEMP/touchstone}"
case "$TOUCHSTONE_COMMAND" in
ci)
	args=(ci --output-dir "$directory" --full "$TOUCHSTONE_FULL")
	if [ "$TOUCHSTONE_PUBLISH" = false ]; then args+=(--no-publish); fi
	;;
publish) args=(publish "${TOUCHSTONE_REPORT:-$directory/report.json}") ;;
coin) args=(audit coin --event) ;;
*) echo "::error::input command is none of ci, publish and coin" && exit 2 ;;
esac
exec "$touchstone" "${args[@]}"
