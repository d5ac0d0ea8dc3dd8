# The product's image. deploy/container/entrypoint lists its roles, compose.yaml runs it.

# Any Debian or Ubuntu with Python 3.11 or newer as `python3`, its venv module, and PostgreSQL's client in the
# version of the server. This is the Debian release of compose.yaml's PostgreSQL.
ARG BASE=python:3.11-slim-trixie

FROM ${BASE} AS build
# For `strip`.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends binutils \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /srv/email-validation
# requirements-extras.lock has Sentry and OpenTelemetry too.
ARG REQUIREMENTS=requirements.lock
COPY requirements.lock deploy/requirements-extras.lock ./
# To install from another index: --secret id=pip,src=pip.conf
RUN --mount=type=secret,id=pip,target=/etc/pip.conf \
    python3 -m venv .venv \
    && .venv/bin/pip install --no-cache-dir --no-compile --require-hashes -r "${REQUIREMENTS}" \
    && .venv/bin/pip uninstall --quiet --yes setuptools pip
# No process reads a third of what pip installs: sources of extensions, translations (USE_I18N is
# off), tests and debug symbols.
RUN find .venv/lib -type f -regextype egrep -regex '.*\.(c|cpp|h|po|mo|pxd|pyi|pyx)' -delete \
    && find .venv/lib -type d -regextype egrep -regex '.*/(tests|testing)' -prune -exec rm -r {} + \
    && find .venv/lib -type f -name '*.so' -not -path '*.libs/*' -exec strip --strip-unneeded {} +
COPY . .
# Nothing changes in an image, so Python needn't compare bytecode with its source. Type checkers are
# the only readers of Stripe's largest folder. Any user may run the image.
RUN DATA_DIR=/tmp/data STATIC_ROOT=/srv/email-validation/collected-static \
    .venv/bin/python manage.py collectstatic --noinput --verbosity 0 \
    && .venv/bin/python -m compileall -q -x '/stripe/params/' --invalidation-mode unchecked-hash . \
    && chmod -R a+rX .

FROM ${BASE}
# pg_dump for backups, and an init process that forwards signals and reaps orphans. The base decides
# on the versions.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends postgresql-client tini \
    && apt-get clean && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 email-validation \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent \
        --shell /usr/sbin/nologin email-validation \
    && install --directory --mode=700 --owner=10001 --group=10001 /data
COPY --from=build /srv/email-validation /srv/email-validation
WORKDIR /srv/email-validation
# DATA_DIR is a folder of its own in the volume: the product makes it private, which only the owner of
# a folder may do, and some volumes belong to root.
ENV PATH=/srv/email-validation/.venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    DATA_DIR=/data/email-validation \
    STATIC_ROOT=/srv/email-validation/collected-static
USER 10001:10001
VOLUME /data
EXPOSE 8000
# Requests in progress may finish: give it 50 s, as in compose.yaml.
STOPSIGNAL SIGTERM
# Whether the process responds, not whether it's ready: orchestrators that act on this restart the
# container, which wouldn't repair a database. A migration at the start may take minutes.
HEALTHCHECK --interval=5s --timeout=5s --start-period=10m --retries=3 \
    CMD ["python3", "-IS", "deploy/container/healthcheck.py"]
ENTRYPOINT ["tini", "-s", "--", "/srv/email-validation/deploy/container/entrypoint"]
CMD ["serve"]

ARG VERSION=1.0.0
ARG REVISION=
# What /readyz and the metrics say.
ENV RELEASE_COMMIT=${REVISION}
ARG SOURCE=
LABEL org.opencontainers.image.title="Email Validation API" \
    org.opencontainers.image.description="A hosted email-validation API with a dashboard" \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.revision="${REVISION}" \
    org.opencontainers.image.source="${SOURCE}" \
    org.opencontainers.image.licenses="LicenseRef-Proprietary"
