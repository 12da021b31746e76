#!/usr/bin/env bash
# Puts the touchstone binary into $RUNNER_TEMP/touchstone-bin: the release's, when its digest stands in release.sha256, else one built from the
# action's own source. A download that does not have its digest is refused, never replaced.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
bin="$RUNNER_TEMP/touchstone-bin"
mkdir -p "$bin"

case "$(uname -s)" in
Linux) os=linux ;;
Darwin) os=darwin ;;
MINGW* | MSYS* | CYGWIN*) os=windows ;;
*) echo "::error::touchstone has no build for $(uname -s): run it with from-source: true" && exit 2 ;;
esac
case "$(uname -m)" in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) echo "::error::touchstone has no build for $(uname -m): run it with from-source: true" && exit 2 ;;
esac
exe=
if [ "$os" = windows ]; then exe=.exe; fi
asset="touchstone_${os}_${arch}${exe}"

# Each line: digest, tag, asset.
read -r digest tag _ < <(grep " $asset\$" "$here/release.sha256" || true) || true

if [ "${TOUCHSTONE_FROM_SOURCE:-false}" = true ] || [ -z "${digest:-}" ]; then
	command -v go >/dev/null || { echo "::error::this version of touchstone has no release for $asset and is built from source: add actions/setup-go before it" && exit 2; }
	(cd "$here/.." && CGO_ENABLED=0 GOFLAGS=-buildvcs=false GOWORK=off go build -trimpath -o "$bin/touchstone$exe" ./cmd/touchstone)
	exit 0
fi

url="${TOUCHSTONE_DOWNLOAD:-https://github.com/touchstone-gate/touchstone/releases/download}/$tag/$asset"
curl --fail --silent --show-error --location --retry 3 --output "$bin/touchstone$exe" "$url"
if command -v sha256sum >/dev/null; then
	got=$(sha256sum "$bin/touchstone$exe")
else
	got=$(shasum -a 256 "$bin/touchstone$exe")
fi
if [ "${got%% *}" != "$digest" ]; then
	rm -f "$bin/touchstone$exe"
	echo "::error::$url has the digest ${got%% *}, and this action was made for $digest: it is not run"
	exit 2
fi
chmod +x "$bin/touchstone$exe"
