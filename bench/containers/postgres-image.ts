// Builds a stand-in for the official image of PostgreSQL 18: the binaries that Callsign embeds, with the variables and paths that compose.external.yaml uses.
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createLog } from '../../packages/server/src/core/log.ts'
import { findPrograms } from '../../packages/server/src/edges/postgres/embedded/binaries.ts'
import { build, freshFolder, run } from './images.ts'

/** The name in compose.external.yaml. */
export const postgresImage = 'docker.io/library/postgres:18-alpine'

const entrypoint = `#!/bin/sh
set -e
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb --username="$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" --auth=scram-sha-256 $POSTGRES_INITDB_ARGS > /dev/null
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  echo "CREATE DATABASE $POSTGRES_DB" | postgres --single postgres > /dev/null
fi
exec postgres -c listen_addresses='*' -c unix_socket_directories=/tmp
`

export function buildPostgres(): void {
  const context = freshFolder('postgres')
  const { postgres } = findPrograms({ account: null, copyDir: context, log: createLog('silent') })
  // The libraries of the package are links in part.
  run('cp', ['-rL', dirname(dirname(postgres)), join(context, 'native')])
  writeFileSync(join(context, 'entrypoint'), entrypoint, { mode: 0o755 })
  const lines = [
    'FROM localhost/base',
    'RUN apt-get update -q && apt-get install -y -q --no-install-recommends postgresql-client && useradd --uid 999 --user-group postgres',
    'COPY native /usr/local/pgsql',
    'COPY entrypoint /usr/local/bin/',
    'RUN install -d -o postgres /var/lib/postgresql/18',
    'ENV PATH=/usr/local/pgsql/bin:$PATH PGDATA=/var/lib/postgresql/18/docker PGHOST=/tmp',
    'USER postgres',
    'VOLUME /var/lib/postgresql',
    'STOPSIGNAL SIGINT',
    'ENTRYPOINT ["entrypoint"]',
  ]
  build(postgresImage, context, `${lines.join('\n')}\n`)
}
