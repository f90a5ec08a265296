/**
 * Checks of a PostgreSQL database: it answers, has a usable version and schema, and the connection passes everything.
 */
import { errorText } from "../../domain/error-text.ts";
import { hasDiskSpace } from "../../store/database/disk-space.ts";
import {
  DISK_FULL,
  ListenError,
  SchemaVersionError,
  ServerVersionError,
  sqlState,
} from "../../store/database/errors.ts";
import { assertListenWorks } from "../../store/database/migrate/listen-check.ts";
import {
  assertSchemaVersion,
  MIN_SCHEMA_VERSION,
  SCHEMA_VERSION,
  schemaVersion,
} from "../../store/database/migrate/migrate.ts";
import { assertServerVersion } from "../../store/database/migrate/server-version.ts";
import { type DatabaseLocation, protectionOf } from "../../store/database/postgres/connection-config.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import { tlsProtocol } from "../../store/database/postgres/tls-protocol.ts";
import { keepsSession } from "../../store/database/session-check.ts";
import type { Store } from "../../store/database/store.ts";
import { databaseTime } from "../../store/database/times.ts";
import type { Keyring } from "../../store/encryption/keyring.ts";
import { databaseAdvice } from "../output/database-advice.ts";
import { CONTENT_CHECKS } from "./database-contents.ts";
import { type Check, type Finding, note, ok, runChecks, wrong } from "./finding.ts";
import { judgeClock } from "./judge-clock.ts";

/** Database that is checked. */
type Database = {
  readonly location: DatabaseLocation;
  readonly store: Store;
  /** Reads the encryption keys that are given, to compare with the database's; undefined if none are. */
  readonly encryptionKeys: () => Promise<Keyring | undefined>;
  /** Clock of this machine, in milliseconds since the epoch. */
  readonly now: () => number;
};

/** Checks in the order in which one fault causes another. */
const CHECKS: readonly Check<Database>[] = [
  checkStorage,
  checkEncryption,
  checkVersion,
  checkNotifications,
  checkSession,
  checkClock,
];

/**
 * Checks a database.
 *
 * @param also further checks; called with the database if its schema is this build's
 */
export async function checkDatabase(
  location: DatabaseLocation,
  given: Omit<Database, "location" | "store">,
  also: (store?: Store) => Promise<readonly Finding[]>,
): Promise<Finding[]> {
  const store = await openPostgres(location);
  try {
    const database = { ...given, location, store };
    const reached = await checkConnection(database);
    if (reached.severity === "error") return [reached, ...(await also())];
    const findings = [reached];
    try {
      const schema = await checkSchema(database);
      findings.push(...(await runChecks(CHECKS, database)), schema);
      if (schema.severity === "error") return [...findings, ...(await also())];
      findings.push(...(await runChecks(CONTENT_CHECKS, { db: store.db, ...given })));
      return [...findings, ...(await also(store))];
    } catch (error) {
      const step = databaseAdvice(error);
      if (step === undefined) throw error;
      // Such as a lock that another session holds: what was found so far is true.
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const message = `the checks of the database ended here: ${errorText(cause)}`;
      return [...findings, wrong("database-connection", message, step), ...(await also())];
    }
  } finally {
    await store.close();
  }
}

async function checkConnection({ store }: Database): Promise<Finding> {
  try {
    await databaseTime(store.db);
    return ok("database-connection", "the database answers");
  } catch (error) {
    return wrong("database-connection", errorText(error), stepAfter(error));
  }
}

/** Returns what to do about a failed connection, also if the disk is full and PostgreSQL cannot write its own files. */
function stepAfter(error: unknown): string {
  if (error instanceof Error && sqlState(error.cause) === DISK_FULL) return FREE_SPACE;
  return databaseAdvice(error) ?? "see --database-url, and that PostgreSQL runs there";
}

const FREE_SPACE = "make room there: what PostgreSQL's own log names, or a larger disk";

async function checkStorage({ store }: Database): Promise<Finding[]> {
  try {
    if (await hasDiskSpace(store.db)) return [ok("database-storage", "the database's disk takes a write")];
    const message = "the database's disk is full, and takes no write";
    return [wrong("database-storage", message, FREE_SPACE)];
  } catch (error) {
    const message = `a write could not be attempted: ${errorText(error)}`;
    return [
      note("database-storage", message, "see that this is the primary, and that its user may make temporary tables"),
    ];
  }
}

/** Checks encryption up to the host in the URL. If that is a pooler, its own connection to the database is not seen. */
async function checkEncryption({ location }: Database): Promise<Finding[]> {
  const protection = protectionOf(location);
  const name = "database-encryption";
  if (protection.kind === "none") {
    if (protection.isLocal) return [ok(name, "connections do not leave this machine")];
    const message = "connections are not encrypted: the URL says sslmode=disable";
    return [note(name, message, "leave sslmode=disable out, unless all that is on the way may read and change it")];
  }
  const encrypted = `connections are encrypted (${await tlsProtocol(location)})`;
  if (protection.kind === "unverified") {
    const message = `${encrypted}, by uselibpqcompat=true for a server that may be another`;
    return [note(name, message, "write sslmode=verify-full, and give the authority by --database-ca-file FILE")];
  }
  const authorities = protection.caFile ?? "the authorities that Node trusts";
  return [ok(name, `${encrypted}, and the certificate is verified against ${authorities}`)];
}

async function checkVersion({ store }: Database): Promise<Finding[]> {
  try {
    await assertServerVersion(store.db);
    return [ok("database-version", "the database is PostgreSQL 15 or later")];
  } catch (error) {
    if (!(error instanceof ServerVersionError)) throw error;
    return [wrong("database-version", error.message, "upgrade PostgreSQL")];
  }
}

async function checkSchema({ store }: Database): Promise<Finding> {
  try {
    await assertSchemaVersion(store);
    return ok(
      "database-schema",
      `the schema is of version ${await schemaVersion(store.db)}, with which this build works`,
    );
  } catch (error) {
    if (!(error instanceof SchemaVersionError)) throw error;
    const version = await schemaVersion(store.db);
    const isTooOld = version > 0 && version < MIN_SCHEMA_VERSION;
    const migrate = isTooOld ? "do what this says" : "keyplane migrate --database-url URL";
    const step = version > SCHEMA_VERSION ? "use the keyplane that migrated it, or a later one" : migrate;
    return wrong("database-schema", error.message, step);
  }
}

/** Checks that notifications arrive through the given URL: a pooler may pass on statements but no notifications. */
async function checkNotifications({ store }: Database): Promise<Finding[]> {
  try {
    await assertListenWorks(store);
    return [ok("database-notifications", "notifications arrive through this URL")];
  } catch (error) {
    const step = "give the server and the controller the URL of the primary itself, or of a pooler in session mode";
    const [what = ""] = errorText(error).split(". ");
    if (error instanceof ListenError) return [wrong("database-notifications", what, step)];
    return [wrong("database-notifications", `cannot find out whether notifications arrive: ${errorText(error)}`, step)];
  }
}

async function checkSession({ store }: Database): Promise<Finding[]> {
  const step = "give a URL that leads to PostgreSQL itself, or set the pooler's pool_mode to session";
  try {
    if (await keepsSession(store)) return [ok("database-session", "a connection keeps its session")];
    const message =
      "a connection changes its session between two statements: a pooler in transaction mode is in between";
    return [wrong("database-session", message, step)];
  } catch (error) {
    return [wrong("database-session", `two connections at once cannot be had: ${errorText(error)}`, step)];
  }
}

async function checkClock({ store, now }: Database): Promise<Finding[]> {
  const before = now();
  const theirs = await databaseTime(store.db);
  return [judgeClock("the database's", theirs, { before, after: now() })];
}
