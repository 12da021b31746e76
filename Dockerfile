# The touchstone binary with git, for CI systems other than GitHub's and for docker run. Test tools are the repository's own business: build FROM
# this image, or copy /usr/local/bin/touchstone into yours; it is static.
#
#   CGO_ENABLED=0 go build -trimpath -o dist/touchstone_linux_amd64 ./cmd/touchstone
#   docker build -t touchstone .
#   docker run --rm --read-only --tmpfs /tmp:exec -v "$PWD:/repo:ro" touchstone check --sandbox copy --base main --head HEAD
ARG BASE=debian:bookworm-slim
FROM ${BASE}
ARG TARGETARCH=amd64
RUN command -v git >/dev/null || { apt-get update && apt-get install -y --no-install-recommends git ca-certificates && rm -rf /var/lib/apt/lists/*; }
RUN useradd --uid 10001 --home-dir /tmp --no-create-home --shell /usr/sbin/nologin touchstone && git config --system safe.directory '*'
COPY dist/touchstone_linux_${TARGETARCH} /usr/local/bin/touchstone
USER 10001:10001
ENV HOME=/tmp
WORKDIR /repo
HEALTHCHECK --interval=1m --timeout=5s CMD ["touchstone", "--version"]
ENTRYPOINT ["touchstone"]
CMD ["--help"]
