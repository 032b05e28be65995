// Postfix with rspamd as its milter and Dovecot with a full-text index behind it: what people run for the work that Callsign does with a message.
import { execFile, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { accepts, endProcess, findFreePort, greets } from '../../packages/server/tests/harness/peer-process.ts'
import { findPostfix, startPostfix } from '../../packages/server/tests/harness/postfix.ts'
import { waitFor } from '../../packages/server/tests/harness/wait.ts'

const run = promisify(execFile)
const [rspamd, dovecot, doveadm] = ['/usr/bin/rspamd', '/usr/sbin/dovecot', '/usr/bin/doveadm']
const nobody = 65534

/** The reason why there can be no stack here, or null. */
export function findStack(): string | null {
  const missing = [
    [rspamd, 'rspamd'],
    [dovecot, 'dovecot-lmtpd'],
    ['/usr/lib/dovecot/modules/lib21_fts_xapian_plugin.so', 'dovecot-fts-xapian'],
  ].flatMap(([file, name]) => (existsSync(file as string) ? [] : [name as string]))
  return missing.length > 0 ? `missing packages (apt install ${missing.join(' ')})` : findPostfix()
}

export type MailStack = {
  port: number
  /** The first processes of Postfix, rspamd and Dovecot. */
  pids: number[]
  /** Resolves when this many messages are in the mailbox, and all of them in its index. */
  waitUntilFiled: (count: number) => Promise<void>
  /** The file of the newest message. */
  newest: () => string
  stop: () => Promise<void>
}

/** Checks SPF, DKIM, DMARC and ARC at the end of DATA, and adds Authentication-Results. Nothing else of rspamd runs, and it asks `dns` only. */
const rspamdSettings = (folder: string, port: number, dns: { host: string; port: number }): string => `
options {
  filters = "dkim";
  pidfile = "${folder}/rspamd.pid";
  dns { nameserver = ["${dns.host}:${dns.port}"]; timeout = 1s; enable_dnssec = false; }
  local_addrs = [];
  check_local = true;
  rrd = null;
  history_file = null;
  url_tld = "/usr/share/rspamd/effective_tld_names.dat";
  tempdir = "${folder}";
  max_lua_urls = 1024;
}
logging { type = "file"; filename = "${folder}/rspamd.log"; level = "warning"; }
modules { path = "/usr/share/rspamd/plugins/dmarc.lua"; path = "/usr/share/rspamd/plugins/arc.lua"; path = "/usr/share/rspamd/plugins/milter_headers.lua"; path = "/usr/share/rspamd/plugins/spf.lua"; }
spf { check_local = true; }
dkim { check_local = true; }
dmarc { check_local = true; }
arc { check_local = true; }
milter_headers { use = ["authentication-results"]; skip_local = false; skip_authenticated = false; }
actions { reject = 1000; add_header = 900; greylist = 800; }
worker {
  type = "rspamd_proxy";
  bind_socket = "127.0.0.1:${port}";
  milter = true;
  timeout = 60s;
  count = 2;
  upstream "local" { default = true; self_scan = true; }
}
`

const dovecotSettings = (folder: string, port: number, spool: string): string => `
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/dovecot.log
protocols = lmtp
ssl = no
default_internal_user = dovecot
default_login_user = dovenull
mail_location = maildir:${spool}/%n
mail_plugins = fts fts_xapian
first_valid_uid = 1
auth_mechanisms = plain
plugin {
  fts = xapian
  fts_xapian = partial=3 full=20
  fts_autoindex = yes
  fts_enforced = yes
}
passdb {
  driver = static
  args = nopassword=y
}
userdb {
  driver = static
  args = uid=${nobody} gid=${nobody} home=${spool}/%n allow_all_users=yes
}
service lmtp {
  client_limit = 1
  process_limit = 20
  inet_listener lmtp {
    address = 127.0.0.1
    port = ${port}
  }
}
protocol lmtp {
  mail_plugins = fts fts_xapian
}
`

/** Starts the three servers on loopback, with folders of their own. Mail for `box@example.com` is checked, stored and indexed. */
export async function startMailStack(dns: { host: string; port: number }): Promise<MailStack> {
  const folder = mkdtempSync(join(tmpdir(), 'callsign-stack-'))
  chmodSync(folder, 0o755)
  const spool = join(folder, 'mail')
  for (const name of ['run', 'state', 'mail', 'rspamd']) mkdirSync(join(folder, name))
  chownSync(spool, nobody, nobody)
  const [milterPort, lmtpPort] = [await findFreePort(), await findFreePort()]
  const rspamdFolder = join(folder, 'rspamd')
  const rspamdFile = join(folder, 'rspamd.conf')
  writeFileSync(rspamdFile, rspamdSettings(rspamdFolder, milterPort, dns))
  const dovecotFile = join(folder, 'dovecot.conf')
  writeFileSync(dovecotFile, dovecotSettings(folder, lmtpPort, spool))
  const checker = spawn(rspamd, ['-f', '-i', '-c', rspamdFile], { stdio: 'ignore' })
  const store = spawn(dovecot, ['-F', '-c', dovecotFile], { stdio: 'ignore' })
  await waitFor('LMTP to greet', () => greets(lmtpPort))
  // It compiles its patterns first.
  await waitFor('rspamd to listen', () => accepts(milterPort), 60_000)
  const postfix = await startPostfix('nowhere.example', lmtpPort, {
    smtpd_milters: `inet:127.0.0.1:${milterPort}`,
    milter_default_action: 'tempfail',
    virtual_transport: `lmtp:inet:127.0.0.1:${lmtpPort}`,
    smtpd_client_connection_count_limit: '100',
    in_flow_delay: '0',
    // Adds no Message-ID, which the signature covers.
    local_header_rewrite_clients: '',
  })

  const countOf = (name: string): number => {
    const path = join(spool, 'box', name)
    return existsSync(path) ? readdirSync(path).length : 0
  }

  return {
    port: postfix.port,
    pids: [postfix.pid, checker.pid as number, store.pid as number],
    async waitUntilFiled(count) {
      while (countOf('new') + countOf('cur') < count) await new Promise((resolve) => setTimeout(resolve, 5))
      await run(doveadm, ['-c', dovecotFile, 'index', '-u', 'box', 'INBOX'])
    },
    newest() {
      const folderOfNew = join(spool, 'box', 'new')
      return join(folderOfNew, readdirSync(folderOfNew).toSorted().at(-1) as string)
    },
    async stop() {
      await postfix.stop()
      await Promise.all([endProcess(store), endProcess(checker)])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
