import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { BlockList } from "node:net";
import { sql } from "kysely";
import type { GatewayRecord, KeyRecord } from "../../domain/access/key-record.ts";
import type { OperationName } from "../../domain/access/operations.ts";
import { SCOPES, scopeBit } from "../../domain/access/scopes.ts";
import { keyDigest, mintKey } from "../../domain/key/secret/key-format.ts";
import { DEFAULT_RETENTION_MS, LEASE_MS } from "../../domain/protocol.ts";
import { RecordCapacity } from "../../memory/store/writes/record-capacity.ts";
import { createMetrics } from "../../processes/metrics.ts";
import type { Clock } from "../../runtime/clock.ts";
import { createLog } from "../../runtime/log.ts";
import { type Sampling, sampleLog } from "../../runtime/log-sampler.ts";
import { buildApp, type Mount } from "../../server/app.ts";
import type { ManagementToken } from "../../server/auth/management/management-token.ts";
import type { RefusalEvent } from "../../server/auth/refusals/refusal-event.ts";
import { createJwtValidator } from "../../server/auth/tokens/jwt.ts";
import type { BudgetGrants } from "../../server/budgets/budget-grants.ts";
import { CALL_LIMITS, type CallLimits, StreamRegistry } from "../../server/calls/open-streams.ts";
import type { ServerConfig } from "../../server/context/config.ts";
import { AnswerBudget, type AnswerLimits, answerLimits } from "../../server/http/answers/answer-budget.ts";
import { KeyIndex } from "../../server/key-index/key-index.ts";
import type { KeyIndexView } from "../../server/key-index/key-index-view.ts";
import type { InstallationLimits } from "../../server/limits/installation-limits.ts";
import type { ServerDeps } from "../../server/product/deps.ts";
import type { Tracing } from "../../server/telemetry/tracing.ts";
import { NO_PRICES } from "../../server/usage/price-file.ts";
import type { CountedAnswer } from "../../server/usage/usage-recorder.ts";
import type { Store } from "../../store/database/store.ts";
import { type Keyring, parseKeyring } from "../../store/encryption/keyring.ts";
import { subjectColumn } from "../../store/keys/rows/key-policy.ts";
import { budgetsOn, ledgerThatIsAway } from "./budgets/ledger.ts";
import { ownersInMemory } from "./ownership/owners-in-memory.ts";
import { gatewayRecord, indexedKey, keyRecord, testClock } from "./records.ts";

export { gatewayRecord, indexedKey, keyRecord, type TestClock, testClock } from "./records.ts";

export type Harness = Awaited<ReturnType<typeof startHarness>>;

/** What a test may choose; all of it has a default. */
export type HarnessOptions = {
  /** The products to serve. */
  readonly mounts?: readonly Mount[];
  /** For products that ask the database. Without one, touching the store throws. */
  readonly store?: Store;
  readonly config?: Partial<ServerConfig>;
  /** What open calls may take. */
  readonly calls?: Partial<CallLimits>;
  /** What answers may hold. */
  readonly answers?: Partial<AnswerLimits>;
  /** What counts for limits of the installation; none where it is left out. */
  readonly limits?: (clock: Clock) => InstallationLimits;
  /** What keeps budgets; a database that is away where it is left out. */
  readonly budgets?: (clock: Clock) => BudgetGrants;
  /** What keeps whose the objects of upstreams are; in memory where it is left out. */
  readonly owners?: ServerDeps["owners"];
  /** Opens the management API. */
  readonly managementToken?: ManagementToken;
  readonly tracing?: Tracing;
  /** Keys for what is sealed, which servers share; its own where it is left out. */
  readonly keyring?: Keyring;
  /** How many alike lines the log has. */
  readonly sampling?: Sampling;
};

/**
 * The real app on a loopback port, over an index that the test fills by hand: decisions need no database.
 * `lines` are the log's, `refused` the refusals that were handed to the audit, `used` the uses that were recorded,
 * `libraries` those that calls used, each after its key, `counted` the operations that requests were counted by, `answered` the models' answers that were counted.
 */
export async function startHarness({
  mounts = [],
  store,
  config,
  calls,
  answers,
  limits,
  budgets,
  owners,
  managementToken,
  tracing,
  keyring,
  sampling,
}: HarnessOptions = {}) {
  const clock = testClock();
  const index = new KeyIndex();
  const metrics = createMetrics();
  const lines: string[] = [];
  const refused: (Omit<RefusalEvent, "client"> & { readonly address: string | undefined })[] = [];
  const used: { key: KeyRecord; at: number; ip: string | undefined }[] = [];
  const libraries: string[] = [];
  const counted: OperationName[] = [];
  const answered: (CountedAnswer & { readonly keyId: string })[] = [];
  let current = true;
  let stored: Promise<unknown> = Promise.resolve();
  const streams = new StreamRegistry(metrics.countCutStream, { ...CALL_LIMITS, ...calls });
  const deps: ServerDeps = {
    store: store === undefined ? noStore() : asking(store, () => stored),
    keyring: keyring ?? parseKeyring(randomBytes(32).toString("base64")),
    index: viewOf(index, () => current),
    streams,
    answers: new AnswerBudget({ ...answerLimits(1), ...answers }),
    recordCapacity: new RecordCapacity(clock.monotonic),
    usage: {
      record: (key, at, { ip }) => used.push({ key, at, ip }),
      noteLibrary: ({ keyId }, libraryId) => libraries.push(`${keyId} ${libraryId}`),
      countRequest: (_key, operation) => counted.push(operation),
      countAnswer: ({ keyId }, answer) => answered.push({ keyId, ...answer }),
    },
    prices: NO_PRICES,
    tracing: tracing ?? null,
    // As the audit log has it: the request itself is not kept.
    refusals: { record: ({ client, ...refusal }) => refused.push({ ...refusal, address: client.ip }) },
    installationLimits: limits?.(clock) ?? null,
    budgets: budgets?.(clock) ?? budgetsOn(ledgerThatIsAway(), clock),
    owners: owners ?? ownersInMemory(clock.monotonic).owners,
    clock,
    log: sampleLog(createLog("debug", { write: (line) => lines.push(line) }), sampling),
    metrics,
    config: { ...testConfig(), ...config },
    managementToken: managementToken ?? null,
    validateJwt: config?.oidc ? createJwtValidator(config.oidc, clock) : null,
  };
  const app = await buildApp(deps, mounts);
  const records = new Map<string, KeyRecord>();
  const put = (plaintext: string, record: KeyRecord) => {
    records.set(plaintext, record);
    index.applyKey(record.keyId, [indexedKey(keyDigest(plaintext), record, plaintext.length !== 61)]);
    if (store !== undefined) stored = stored.then(() => storeRecord(store, keyDigest(plaintext), record));
  };
  const recordOf = (plaintext: string): KeyRecord => {
    const record = records.get(plaintext);
    if (record === undefined) throw new Error("no such key was added");
    return record;
  };
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;

  return {
    app,
    deps,
    clock,
    index,
    metrics,
    lines,
    refused,
    used,
    libraries,
    counted,
    answered,
    streams,
    port,
    url: `http://127.0.0.1:${port}`,
    /** Whether the replica can prove that its index is current: false makes every decision 503. */
    setCurrent(value: boolean): void {
      current = value;
    },
    /**
     * Adds a key, by default usable, with every scope, of team `team-a`, unbound, for all libraries.
     *
     * @param plaintext a key of another shape; by default one is minted
     * @returns the plaintext
     */
    addKey(fields: Partial<KeyRecord> = {}, plaintext = mintKey(randomBytes)): string {
      put(plaintext, keyRecord(fields));
      return plaintext;
    },
    /** Changes the record of a key that was added, as the feed would, and cuts its streams where it ended. */
    changeKey(plaintext: string, fields: Partial<KeyRecord>): void {
      put(plaintext, { ...recordOf(plaintext), ...fields });
      streams.revalidate(({ keyId, version }) => index.findVersion(keyId, version), clock.now());
    },
    /** Waits until the store has the keys as they were added and changed so far. */
    whenStored: () => stored,
    /** The record of a key that was added, as it is now. */
    recordOf,
    /** Adds a gateway, by default of team `team-a`, without upstreams. */
    addGateway(fields: Partial<GatewayRecord> = {}): GatewayRecord {
      const gateway = gatewayRecord(fields);
      index.applyGateway(gateway);
      return gateway;
    },
    async close(): Promise<void> {
      streams.cutAll("stopping");
      app.server.closeAllConnections();
      await app.close();
      await stored;
    },
  };
}

/** What decisions read of an index that no lease is needed for. */
function viewOf(index: KeyIndex, isCurrent: () => boolean): KeyIndexView {
  return {
    isCurrent,
    findKey: (digest) => index.findKey(digest),
    findGateway: (publicId) => index.findGateway(publicId),
    publicIdOf: (gatewayId) => index.publicIdOf(gatewayId),
    findPresent: (record) => index.presentOf(record),
    findMember: (token, named) => index.findMember(token, named),
    lastSeq: () => 1,
    acceptsImportedFormat: () => index.acceptsImportedFormat(),
    chargeRates: (rates, now) => index.chargeRates(rates, now),
    judgeRates: (rates, now) => index.judgeRates(rates, now),
    chargeUsed: (rate, now) => index.chargeUsed(rate, now),
    refundRate: (...refund) => index.refundRate(...refund),
  };
}

/** The store, whose memory is asked once the keys of the test are in it. */
function asking(store: Store, whenStored: () => Promise<unknown>): Store {
  const memory: Store["memory"] = {
    run: (call, body) => whenStored().then(() => store.memory.run(call, body)),
  };
  return { ...store, memory };
}

/** Puts a key into the database as it is in the index; one of a team that the database does not have is left out. */
export async function storeRecord(store: Store, digest: string, record: KeyRecord): Promise<void> {
  const { keyId, version, teamId, namespace, state, versionState, expiresAt, libraryIds } = record;
  const expires = Number.isFinite(expiresAt) ? new Date(expiresAt) : null;
  const scopes = SCOPES.filter((scope) => (record.scopes & scopeBit(scope)) !== 0);
  await store.db.transaction().execute(async (tx) => {
    const { rows } = await sql`select from teams where id = ${teamId}`.execute(tx);
    if (rows.length === 0) return;
    await sql`insert into team_namespaces (cluster, namespace, team_id) values ('c', ${namespace}, ${teamId})
      on conflict do nothing`.execute(tx);
    await sql`insert into keys (id, cluster, namespace, name, team_id, source, state, display_name, scopes,
        gateway_bound, library_mode, mcp_default_library_id, expires_at, subject, allowed_cidrs, generation)
      values (${keyId}, 'c', ${namespace}, ${keyId}, ${teamId}, 'generate', ${state}, '', ${scopes}::text[], false,
        ${libraryIds === null ? "all" : "restricted"}, ${record.mcpDefaultLibraryId}, ${expires}::timestamptz,
        ${subjectColumn(record.subject)}, ${record.allowedCIDRs}::text[], 1)
      on conflict (id) do update set state = excluded.state, scopes = excluded.scopes,
        library_mode = excluded.library_mode, expires_at = excluded.expires_at, subject = excluded.subject,
        allowed_cidrs = excluded.allowed_cidrs`.execute(tx);
    await sql`delete from key_libraries where key_id = ${keyId}`.execute(tx);
    await sql`insert into key_libraries (key_id, library_id)
      select ${keyId}, unnest(${libraryIds ?? []}::text[])`.execute(tx);
    await sql`insert into key_versions (key_id, number, digest, prefix, state, source_kind, minted_at)
      values (${keyId}, ${version}, ${Buffer.from(digest, "latin1")}, '', ${versionState}, 'minted', now())
      on conflict (key_id, number) do update set state = excluded.state`.execute(tx);
  });
}

function testConfig(): ServerConfig {
  const allowedPrivateUpstreams = new BlockList();
  allowedPrivateUpstreams.addSubnet("127.0.0.0", 8, "ipv4");
  allowedPrivateUpstreams.addAddress("::1", "ipv6");
  return {
    host: "127.0.0.1",
    port: 0,
    adminHost: "127.0.0.1",
    bootstrapTokenFile: null,
    adminPort: 0,
    vendorHeader: "x-goog-api-key",
    publicUrl: null,
    allowedPrivateUpstreams,
    tls: null,
    authz: null,
    trustedProxies: [],
    workers: 1,
    production: false,
    placeholders: [],
    oidc: null,
    consoleClients: [],
    leaksGithubKeysUrl: null,
    retentionMs: DEFAULT_RETENTION_MS,
    usageRetentionMs: 400 * 24 * 3_600_000,
    pricesFile: null,
    otlp: null,
    leaseMs: LEASE_MS,
    logLevel: "info",
    auditLog: null,
  };
}

/** Stands where a test needs no database: whatever is asked of it is a fault of the test. */
function noStore(): Store {
  return new Proxy({} as Store, {
    get(_target, name) {
      throw new Error(`this harness was started without a store; .${String(name)} was asked of it`);
    },
  });
}
