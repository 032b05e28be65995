// Settings of the embedded PostgreSQL, which make it durable, small, and reachable through its socket only.

/** Part of the socket's name. PostgreSQL does not listen on the network. */
export const port = 5432

/**
 * Settings given on the command line, which override every file in the data directory. All others keep PostgreSQL's default, so fsync,
 * full_page_writes and synchronous_commit are on.
 */
export const serverSettings: Record<string, string> = {
  listen_addresses: '',
  port: String(port),
  // Relative to the data directory, which only PostgreSQL's account (and root) may enter. Short enough for a socket's name.
  unix_socket_directories: '.',
  unix_socket_permissions: '0700',
  cluster_name: 'callsign',
  max_connections: '40',
  shared_buffers: '64MB',
  maintenance_work_mem: '64MB',
  // There are no replicas, so the log contains only the data for recovery.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  // Worker processes for reading cost more memory than they gain at this size.
  io_method: 'sync',
  jit: 'off',
  // Storage without seeks.
  random_page_cost: '1.1',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Errors reach the client that caused them. Their texts may contain user data, so they are not logged.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  log_line_prefix: '',
  // Only this method flushes the disk's own cache on macOS.
  ...(process.platform === 'darwin' ? { wal_sync_method: 'fsync_writethrough' } : {}),
}

export const settingArguments = (settings: Record<string, string>): string[] =>
  Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
