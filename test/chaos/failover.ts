import pg from "pg";

/**
 * Has the database take no writes, as one does whose primary changes: each session that begins is read-only, and those of
 * Keyplane that are there have to begin anew.
 *
 * @param url of a superuser
 * @returns takes it back, for the sessions that begin from then on
 */
export async function failOverToReadOnly(url: string): Promise<() => Promise<void>> {
  const admin = new pg.Client({ connectionString: url });
  // What is asked next has the error.
  admin.on("error", () => {});
  await admin.connect();
  await admin.query("alter database postgres set default_transaction_read_only = on");
  await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'keyplane'`);
  return async () => {
    await admin.query("alter database postgres reset default_transaction_read_only");
    await admin.end();
  };
}
