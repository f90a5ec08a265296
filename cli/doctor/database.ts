/** Whether a PostgreSQL is there, of the right kind, and reached by a way that everything passes through. */
import { errorText } from "../../domain/error-text.ts";
import {
  DISK_FULL,
  ListenError,
  SchemaVersionError,
  ServerVersionError,
  sqlState,
} from "../../store/database/errors.ts";
import { assertListenWorks } from "../../store/database/migrate/listen-check.ts";
import { assertSchemaVersion, SCHEMA_VERSION, schemaVersion } from "../../store/database/migrate/migrate.ts";
import { assertServerVersion } from "../../store/database/migrate/server-version.ts";
import { type DatabaseLocation, protectionOf } from "../../store/database/postgres/connection-config.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import { tlsProtocol } from "../../store/database/postgres/tls-protocol.ts";
import { findsRoom } from "../../store/database/room-check.ts";
import { keepsSession } from "../../store/database/session-check.ts";
import type { Store } from "../../store/database/store.ts";
import { databaseTime } from "../../store/database/times.ts";
import type { Keyring } from "../../store/encryption/keyring.ts";
import { databaseAdvice } from "../output/database-advice.ts";
import { CONTENT_CHECKS } from "./database-contents.ts";
import { type Check, type Finding, note, ok, runChecks, wrong } from "./finding.ts";
import { judgeClock } from "./judge-clock.ts";

/** A database that answers. */
type Database = {
  readonly location: DatabaseLocation;
  readonly store: Store;
  /** Those that are given, to see whether they are the database's; undefined where none are. */
  readonly encryptionKeys: () => Promise<Keyring | undefined>;
  /** This machine's, in milliseconds since the epoch. */
  readonly now: () => number;
};

/** In the order in which one thing causes another. */
const CHECKS: readonly Check<Database>[] = [
  checkStorage,
  checkEncryption,
  checkVersion,
  checkNotifications,
  checkSession,
  checkClock,
];

/**
 * Looks at a database.
 *
 * @param also what else is to be looked at, with the database where its schema is this build's
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
    const schema = await checkSchema(database);
    const findings = [reached, ...(await runChecks(CHECKS, database)), schema];
    if (schema.severity === "error") return [...findings, ...(await also())];
    return [...findings, ...(await runChecks(CONTENT_CHECKS, { db: store.db, ...given })), ...(await also(store))];
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

/** What to do where a connection is refused, also for want of the room that PostgreSQL's own files take. */
function stepAfter(error: unknown): string {
  if (error instanceof Error && sqlState(error.cause) === DISK_FULL) return MAKE_ROOM;
  return databaseAdvice(error) ?? "see --database-url, and that PostgreSQL runs there";
}

const MAKE_ROOM = "make room there: what PostgreSQL's own log names, or a larger disk";

async function checkStorage({ store }: Database): Promise<Finding[]> {
  try {
    if (await findsRoom(store.db)) return [ok("database-storage", "the database's disk takes a write")];
    const message = "the database's disk is full, and takes no write";
    return [wrong("database-storage", message, MAKE_ROOM)];
  } catch (error) {
    const message = `a write could not be attempted: ${errorText(error)}`;
    return [
      note("database-storage", message, "see that this is the primary, and that its user may make temporary tables"),
    ];
  }
}

/** Of the way to what the URL leads to: a pooler there has a way of its own to the database. */
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
    const isNewer = (await schemaVersion(store.db)) > SCHEMA_VERSION;
    const step = isNewer ? "use the keyplane that migrated it, or a later one" : "keyplane migrate --database-url URL";
    return wrong("database-schema", error.message, step);
  }
}

/** Through the URL that is given, which may be a pooler's: a pooler may pass on statements but no notifications. */
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
