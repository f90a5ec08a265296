/** Refusal by the store. A caller decides by the class; a person reads the message. */
export class StoreError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Another leader has taken over the scope: stop writing (architecture §2, fencing). */
export class StaleLeaderError extends StoreError {}

/** The declaration that was written is older than the one already applied: read it again (threats c16). */
export class StaleDeclarationError extends StoreError {
  /** Generation that was applied. */
  readonly applied: number;

  constructor(what: string, { generation, applied }: { readonly generation: number; readonly applied: number }) {
    super(`${what}: generation ${generation} of its declaration is older than ${applied}, which was applied`);
    this.applied = applied;
  }
}

/** Another secret already has this version number: read the key again. */
export class VersionTakenError extends StoreError {}

/** Another secret or key already has this digest: a secret belongs to one version of one key, for ever. */
export class DigestTakenError extends StoreError {}

/** The prefix that an import gives identifies another key already. */
export class PrefixTakenError extends StoreError {}

/** The version has ended and cannot come back. */
export class VersionEndedError extends StoreError {}

/** A key has as many old versions as may keep working, and none of them is ended early to make room for another. */
export class TooManyVersionsError extends StoreError {}

/** The key is revoked, which is final (invariant I5). */
export class KeyRevokedError extends StoreError {}

/** No such key or version. */
export class UnknownKeyError extends StoreError {}

/** Other keys of the team were made meanwhile, and it may have no more: read the key again. */
export class TooManyKeysError extends StoreError {}

/** The declaration already owns another key that lives: read it again. */
export class OwnerTakenError extends StoreError {}

/** The key that a declaration names cannot be taken over by it: read it again. */
export class TakeOverRefusedError extends StoreError {}

/** The gateway's public id belongs to another gateway or, after its deletion, to another team. */
export class PublicIdTakenError extends StoreError {}

/** The database cannot be relied on: the operator has to do what the message says. */
export class UnusableDatabaseError extends StoreError {}

/** The database's schema is of a version with which this build cannot work. */
export class SchemaVersionError extends UnusableDatabaseError {}

/** The database is a PostgreSQL that is too old. */
export class ServerVersionError extends UnusableDatabaseError {}

/** The database has an encoding that cannot hold what is stored. */
export class EncodingError extends UnusableDatabaseError {}

/** A migration did not get its locks in time: the message names the sessions that hold them. Nothing of it was done. */
export class MigrationBlockedError extends StoreError {}

/** The encryption keys are unusable, or none of them opens what is stored. */
export class KeyringError extends StoreError {}

/** The encryption keys that are given are not those that the database needs. */
export class EncryptionKeyError extends UnusableDatabaseError {}

/** Notifications do not reach us through this connection. */
export class ListenError extends UnusableDatabaseError {}

/** The database does not answer, or the connection broke: the request may have been carried out. It may be repeated. */
export class DatabaseUnavailableError extends StoreError {}

/** The database's location cannot be read, or does not name a database that can be used: the message says why. */
export class DatabaseLocationError extends DatabaseUnavailableError {}

/** The text of a search cannot be parsed. */
export class SearchTextError extends StoreError {}

/** A field of an atom has a value that is not allowed: the message names the field, and says which values are. */
export class InvalidAtomError extends StoreError {}

/** Too many calls of the memory wait for a slot: of the caller's team, or of all teams. */
export class MemoryBusyError extends StoreError {
  readonly of: "team" | "all";

  constructor(of: "team" | "all") {
    super("too many calls of the memory wait");
    this.of = of;
  }
}

/** A call of the memory was ended because it ran too long. What it wrote may stand. */
export class MemoryTimeoutError extends StoreError {}

/** Too many queries of the management API wait for a slot: of the caller's team, or of all teams. */
export class DatabaseBusyError extends StoreError {
  readonly of: "team" | "all";

  constructor(of: "team" | "all") {
    super("too many questions of the management API wait");
    this.of = of;
  }
}

/** A call was ended because its caller no longer waits for the answer. */
export class CallerLeftError extends StoreError {}

/** SQLSTATE of a write that found no disk space. */
export const DISK_FULL = "53100";

/** SQLSTATE of a statement that has waited for a lock as long as it may. */
export const LOCK_NOT_AVAILABLE = "55P03";

/** Returns the SQLSTATE of a database error from either driver, or undefined. */
export function sqlState(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** Returns the name of the constraint that a database error says was violated, or undefined. */
export function violatedConstraint(error: unknown): string | undefined {
  if (sqlState(error) !== "23505" || typeof error !== "object" || error === null) return undefined;
  return "constraint" in error && typeof error.constraint === "string" ? error.constraint : undefined;
}
