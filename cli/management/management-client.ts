/** Client of the management API for the commands, through `--server` or through the `up` that runs on `--data`. */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Environment } from "../../domain/environment.ts";
import type { Spec } from "../../domain/kinds/kinds.ts";
import { rfc3339Millis } from "../../domain/rfc3339.ts";
import { setting } from "../../runtime/settings.ts";
import type { LeakJson } from "../../server/leaks/leak-json.ts";
import type { AuditJson } from "../../server/management/audit/audit-json.ts";
import type { BudgetJson } from "../../server/management/budgets/budget-json.ts";
import type { EndedSessions } from "../../server/management/ended-sessions.ts";
import type { ForgottenPolicies } from "../../server/management/forgotten-policies.ts";
import type { AdviceJson } from "../../server/management/keys/access/key-advice.ts";
import type { Access, AccessQuestion } from "../../server/management/keys/access/review-access.ts";
import type { KeyJson } from "../../server/management/keys/shown/key-json.ts";
import type { KeyManifest } from "../../server/management/keys/shown/key-manifest.ts";
import type { Receipt } from "../../server/management/keys/shown/receipt.ts";
import type { RevokedSubject } from "../../server/management/revoked-subjects.ts";
import type { UsageJson } from "../../server/management/usage/usage-json.ts";
import type { CliCommand } from "../command/cli-command.ts";
import { readFlagFile } from "../command/config.ts";
import { UsageError } from "../command/usage-error.ts";
import { bootstrapTokenFile, isRunning, readServerFile } from "../data/data-folder.ts";
import { callApi, serverUrl, type Target } from "./api-call.ts";

/**
 * Location of the management API, from flags and their variables. The token itself is never a flag, since others can
 * list command lines.
 */
export type ServerChoice = {
  readonly server?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly data?: string | undefined;
};

export function serverOptions(command: CliCommand): CliCommand {
  return command
    .setting("--data <dir>", "the data folder of keyplane up; needs no token")
    .setting("--server <url>", "the server's URL; needs a token")
    .setting("--token-file <file>", "a file with the token for --server")
    .variable("KEYPLANE_TOKEN", "the token for --server; not an option, since command lines are public");
}

export type ManagementClient = {
  /** Lists all keys that match, page by page. */
  listKeys(filter?: KeyFilter): Promise<KeyJson[]>;
  getKey(id: string): Promise<KeyJson>;
  /** Returns the rights that would have been enough for a key's use of the last 30 days. */
  adviseKey(id: string): Promise<AdviceJson>;
  /** Returns how far the budgets of a key or a team are used, by its id. */
  budgetsOf(of: "keys" | "teams", id: string): Promise<readonly BudgetJson[]>;
  /** Lists all objects of another kind that match, page by page. */
  listObjects<K extends ObjectKind>(kind: K, filter?: NameFilter): Promise<ObjectJson<K>[]>;
  /** Lists the matching libraries whose declaration is gone and whose atoms are kept, page by page. */
  listRetainedLibraries(filter: NameFilter): Promise<RetainedLibraryJson[]>;
  /** Returns the manifest that takes over a key. @param namespace undefined for the team's first namespace */
  exportKey(id: string, namespace: string | undefined): Promise<KeyManifest>;
  revoke(id: string, reason: string | undefined): Promise<Receipt>;
  rotate(id: string, revokeOld: boolean): Promise<Receipt>;
  /** Has a team refuse a subject's tokens and sessions that began before now. @param reason for the audit log */
  revokeSubject(teamId: string, subject: string, reason: string | undefined): Promise<RevokedSubject>;
  /** Lists the subjects that have atoms in a library, page by page. */
  listSubjects(libraryId: string): AsyncGenerator<LibrarySubjectJson>;
  /** Erases a subject's atoms in a library. @param reason for the audit log @returns true if there were any */
  eraseSubject(libraryId: string, subject: string, reason: string | undefined): Promise<boolean>;
  /** Ends the console sessions of a subject. @param reason for the audit log */
  endSessions(subject: string, reason: string | undefined): Promise<EndedSessions>;
  /** Forgets the policies of a cluster. @param reason for the audit log */
  forgetPolicies(cluster: string, reason: string | undefined): Promise<ForgottenPolicies>;
  /**
   * Gives budgets back what ended servers still hold.
   *
   * @param reason for the audit log
   * @returns the budgets after that
   */
  releaseBudgets(of: "keys" | "teams", id: string, reason: string | undefined): Promise<readonly BudgetJson[]>;
  /** Looks up the secrets with these SHA-256 digests, in the same order. A look-up reports no leak. */
  askLeaks(sha256: readonly string[]): Promise<readonly LeakJson[]>;
  reviewAccess(id: string, question: AccessQuestion): Promise<Access>;
  /** Returns events of the audit log, the latest first, `max` of them at most. */
  searchAudit(filter: AuditFilter, max: number): AsyncGenerator<AuditJson>;
  /** Returns usage, page by page. */
  readUsage(filter: UsageFilter): AsyncGenerator<UsageJson>;
  /** Makes a URL that signs in to the console once. */
  makeConsoleLink(): Promise<string>;
};

/** API paths of the kinds other than keys. */
const PATHS = { PlatformTeam: "teams", ModelGateway: "gateways", MemoryLibrary: "libraries" } as const;
type ObjectKind = keyof typeof PATHS;

/** Object as the API shows it (docs/reference/management-api.md). */
export type ObjectJson<K extends ObjectKind = ObjectKind> = {
  readonly id: string;
  readonly name: string;
  /** Namespace; undefined for a team. */
  readonly namespace?: string;
  readonly team?: string;
  readonly createdAt: string;
  readonly declaredIn: { readonly uid: string } | null;
  /** Public id of a gateway. */
  readonly publicID?: string;
  /** Namespaces of a team. */
  readonly namespaces?: readonly string[];
  readonly spec: Partial<Spec<K>>;
};

/** Library of the API whose declaration is gone. */
type RetainedLibraryJson = Pick<Required<ObjectJson>, "id" | "name" | "namespace" | "team" | "createdAt">;

/** Subject of a library; `since` is RFC 3339. */
type LibrarySubjectJson = { readonly id: string; readonly subject: string; readonly since: string };

/** Largest page of the API. */
const MAX_PAGE = 200;

type Filter = Readonly<Record<string, string | undefined>>;
type NameFilter = { readonly namespace?: string | undefined; readonly name?: string | undefined };
type KeyFilter = NameFilter & { readonly team?: string | undefined };

/** Filter of the audit log; fields that are left out match everything. Times are milliseconds since the epoch. */
export type AuditFilter = {
  readonly team?: string | undefined;
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly about?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
};

/** Filter and grouping of usage. Times are milliseconds since the epoch. */
export type UsageFilter = {
  readonly by?: string | undefined;
  /** Name of the label to group by. */
  readonly label?: string | undefined;
  readonly step?: string | undefined;
  readonly team?: string | undefined;
  /** Key, by its id, name, NAMESPACE/NAME or prefix. */
  readonly about?: string | undefined;
  readonly gateway?: string | undefined;
  readonly model?: string | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
};

/**
 * Opens the management API.
 *
 * @param signal ends calls without an answer
 * @throws UsageError if no server or no token is given
 */
export async function openManagement(
  env: Environment,
  flags: ServerChoice,
  signal?: AbortSignal,
): Promise<ManagementClient> {
  const target = { ...(await chooseTarget(env, flags)), signal };

  const call = <T>(method: "GET" | "POST", path: string, body?: object) => callApi<T>(target, method, path, body);

  /** Lists items, reading each page as it is needed. */
  async function* list<T>(path: string, filter: Filter = {}, max = Number.POSITIVE_INFINITY): AsyncGenerator<T> {
    const given = Object.entries(filter).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]]));
    let left = max;
    for (let cursor: string | null = ""; cursor !== null && left > 0; ) {
      const limit = String(Math.min(left, MAX_PAGE));
      const query = new URLSearchParams([...given, ["limit", limit], ...(cursor === "" ? [] : [["cursor", cursor]])]);
      const page: { items: T[]; nextCursor: string | null } = await call("GET", `${path}?${query}`);
      yield* page.items;
      left -= page.items.length;
      cursor = page.nextCursor;
    }
  }

  return {
    listKeys: (filter) => Array.fromAsync(list<KeyJson>("keys", filter)),
    listObjects: (kind, filter) => Array.fromAsync(list(PATHS[kind], filter)),
    listRetainedLibraries: (filter) => Array.fromAsync(list("retained-libraries", filter)),
    adviseKey: (id) => call("GET", `keys/${encodeURIComponent(id)}/advice`),
    budgetsOf: async (of, id) =>
      (await call<{ items: BudgetJson[] }>("GET", `${of}/${encodeURIComponent(id)}/budgets`)).items,
    getKey: (id) => call("GET", `keys/${encodeURIComponent(id)}`),
    exportKey: (id, namespace) =>
      call("GET", `keys/${encodeURIComponent(id)}/manifest?${new URLSearchParams(namespace && { namespace })}`),
    revoke: (id, reason) =>
      call("POST", `keys/${encodeURIComponent(id)}/revoke`, reason === undefined ? {} : { reason }),
    revokeSubject: (teamId, subject, reason) =>
      call("POST", `teams/${encodeURIComponent(teamId)}/revoked-subjects`, { subject, reason }),
    listSubjects: (libraryId) => list(`libraries/${encodeURIComponent(libraryId)}/subjects`),
    async eraseSubject(libraryId, subject, reason) {
      const path = `libraries/${encodeURIComponent(libraryId)}/erased-subjects`;
      const { erased }: { erased: boolean } = await call("POST", path, { subject, reason });
      return erased;
    },
    endSessions: (subject, reason) => call("POST", "ended-sessions", { subject, reason }),
    forgetPolicies: (cluster, reason) => call("POST", "forgotten-policies", { cluster, reason }),
    async releaseBudgets(of, id, reason) {
      const path = `${of}/${encodeURIComponent(id)}/released-budgets`;
      const { items }: { items: BudgetJson[] } = await call("POST", path, { reason });
      return items;
    },
    async askLeaks(sha256) {
      const body = { leaks: sha256.map((sha256) => ({ sha256 })), dryRun: true };
      const { leaks }: { leaks?: readonly LeakJson[] } = await call("POST", "leaks", body);
      // A caller that is not authenticated gets only the answer that the report was received.
      if (leaks === undefined) throw new Error(target.refused);
      return leaks;
    },
    reviewAccess: (id, question) =>
      call("GET", `keys/${encodeURIComponent(id)}/access?${new URLSearchParams(question)}`),
    async makeConsoleLink() {
      const { url }: { url: string } = await call("POST", "console-links");
      return url;
    },
    searchAudit({ from, to, ...filter }, max) {
      const times = { from: timeOf(from), to: timeOf(to) };
      return list("audit-events", { ...filter, ...times }, max);
    },
    readUsage: ({ since, until, ...filter }) =>
      list("usage", { ...filter, since: timeOf(since), until: timeOf(until) }),
    rotate: (id, revokeOld) =>
      callApi(target, "POST", `keys/${encodeURIComponent(id)}/rotate`, { revokeOld }, randomUUID()),
  };
}

/** Repeats a question until the answer is as expected, or the time is up; the last answer is returned. */
export async function waitFor<T>(ask: () => Promise<T>, isDone: (answer: T) => boolean, withinMs: number): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (isDone(answer) || performance.now() > deadline) return answer;
    await delay(100);
  }
}

function timeOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : rfc3339Millis(ms);
}

/**
 * Chooses the server. A flag wins over a variable, whichever of `server` and `data` each is.
 *
 * @returns its URL, and the data folder of the `up` that it belongs to
 * @throws UsageError if none is named, or flags name both
 */
export async function chooseServer(
  env: Environment,
  flags: Pick<ServerChoice, "server" | "data">,
): Promise<{ readonly url: string; readonly data: string | undefined }> {
  if (flags.server !== undefined && flags.data !== undefined) {
    throw new UsageError("--server and --data are two ways to the same: give one of them");
  }
  const server = flags.server ?? (flags.data === undefined ? setting(env, "server", undefined) : undefined);
  if (server !== undefined) return { url: serverUrl("server", server), data: undefined };
  const data = setting(env, "data", flags.data);
  if (data !== undefined) return { url: await urlOfRunning(data), data };
  throw new UsageError("say which server: --data DIR of a running keyplane up, or --server URL");
}

async function chooseTarget(env: Environment, flags: ServerChoice): Promise<Target> {
  const { url, data } = await chooseServer(env, flags);
  const credential =
    data === undefined ? await givenToken(env, flags) : (await readFile(bootstrapTokenFile(data), "utf8")).trim();
  const refused = `${url} refuses the token: give the one of this installation, by --token-file or --data`;
  return { url, credential, refused };
}

async function givenToken(env: Environment, flags: ServerChoice): Promise<string> {
  const file = setting(env, "token-file", flags.tokenFile);
  const token = (file === undefined ? (env.KEYPLANE_TOKEN ?? "") : await readFlagFile("token-file", file)).trim();
  const where = file === undefined ? "KEYPLANE_TOKEN" : `--token-file ${file}`;
  if (token === "" && file === undefined)
    throw new UsageError("--token-file is needed, or the variable KEYPLANE_TOKEN");
  if (token.startsWith("inf_")) {
    throw new UsageError(`${where} holds an API key, which manages nothing: give the installation's token`);
  }
  if (!/^[\x21-\x7e]+$/.test(token)) throw new UsageError(`${where} holds no token: it must be one word on one line`);
  return token;
}

/**
 * Returns the URL of an `up` that runs on this machine.
 *
 * @throws Error if it does not run, or is not ready
 */
export async function urlOfRunning(data: string): Promise<string> {
  if (!(await isRunning(data))) {
    throw new Error(`keyplane up does not run on ${data}: start it, then try again`);
  }
  const server = await readServerFile(data);
  if (server === undefined) throw new Error(`keyplane up on ${data} is not ready yet: try again in a moment`);
  return server.url;
}
