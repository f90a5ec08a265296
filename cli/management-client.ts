/** The management API as the commands use it: through `--server`, or through the `up` that runs on `--data`. */
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Environment } from "../domain/environment.ts";
import { connectionErrorText } from "../domain/error-text.ts";
import type { Spec } from "../domain/manifest/kinds.ts";
import type { LeakJson } from "../server/leaks/leak-json.ts";
import type { KeyJson } from "../server/management/keys/key-json.ts";
import type { KeyManifest } from "../server/management/keys/key-manifest.ts";
import type { Receipt } from "../server/management/keys/receipt.ts";
import type { CliCommand } from "./cli-command.ts";
import { setting } from "./config.ts";
import { bootstrapTokenFile, isRunning, readServerFile } from "./data-folder.ts";
import { UsageError } from "./usage-error.ts";

/** Where the management API is. Flags, and their variables; the token itself is never a flag, which others can list. */
export type ServerChoice = {
  readonly server?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly data?: string | undefined;
};

export function serverOptions(command: CliCommand): CliCommand {
  return command
    .setting("--data <dir>", "the data folder of keyplane up, which has all that is needed")
    .setting("--server <url>", "the server, with a token")
    .setting("--token-file <file>", "the file that holds the token for --server")
    .variable("KEYPLANE_TOKEN", "the token for --server itself, which no flag takes: command lines are public");
}

export type ManagementClient = {
  /** All keys that fit, page by page. */
  listKeys(filter?: NameFilter): Promise<KeyJson[]>;
  getKey(id: string): Promise<KeyJson>;
  /** All objects of another kind that fit, page by page. */
  listObjects<K extends ObjectKind>(kind: K, filter?: NameFilter): Promise<ObjectJson<K>[]>;
  /** @param namespace undefined for the first of the team's */
  exportKey(id: string, namespace: string | undefined): Promise<KeyManifest>;
  revoke(id: string, reason: string | undefined): Promise<Receipt>;
  rotate(id: string, revokeOld: boolean): Promise<Receipt>;
  /** What the secrets with these SHA-256 are, in the same order; nothing is reported by asking. */
  askLeaks(sha256: readonly string[]): Promise<readonly LeakJson[]>;
  /** The address of a link that signs in to the console, once. */
  makeConsoleLink(): Promise<string>;
};

/** The kinds that the API has beside keys, and the path of each. */
const PATHS = { PlatformTeam: "teams", ModelGateway: "gateways", MemoryLibrary: "libraries" } as const;
type ObjectKind = keyof typeof PATHS;

/** An object as the API shows it (docs/api.md). */
export type ObjectJson<K extends ObjectKind = ObjectKind> = {
  readonly id: string;
  readonly name: string;
  /** Not of a team. */
  readonly namespace?: string;
  readonly team?: string;
  readonly createdAt: string;
  readonly declaredIn: { readonly uid: string } | null;
  /** Of a gateway. */
  readonly publicID?: string;
  /** Of a team. */
  readonly namespaces?: readonly string[];
  readonly spec: Partial<Spec<K>>;
};

type NameFilter = { readonly namespace?: string | undefined; readonly name?: string | undefined };

type Target = { readonly url: string; readonly token: string };

/** No answer takes longer: the server waits for its replicas for three seconds at most. Milliseconds. */
const TIMEOUT_MS = 30_000;

/** @throws UsageError where it is not said which server, or with what token */
export async function openManagement(env: Environment, flags: ServerChoice): Promise<ManagementClient> {
  const target = await chooseTarget(env, flags);

  async function call<T>(method: "GET" | "POST", path: string, body?: object): Promise<T> {
    const answer = await send(target, method, path, body);
    const text = await answer.text();
    if (!answer.ok) throw new Error(refusalMessage(target, answer.status, text));
    return parseJson(target, text);
  }

  async function listAll<T>(path: string, { namespace, name }: NameFilter = {}): Promise<T[]> {
    const items: T[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const filter = { ...(namespace && { namespace }), ...(name && { name }), ...(cursor && { cursor }) };
      const query = new URLSearchParams({ limit: "200", ...filter });
      const page: { items: T[]; nextCursor: string | null } = await call("GET", `${path}?${query}`);
      items.push(...page.items);
      cursor = page.nextCursor;
    }
    return items;
  }

  return {
    listKeys: (filter) => listAll("keys", filter),
    listObjects: (kind, filter) => listAll(PATHS[kind], filter),
    getKey: (id) => call("GET", `keys/${encodeURIComponent(id)}`),
    exportKey: (id, namespace) =>
      call("GET", `keys/${encodeURIComponent(id)}/manifest?${new URLSearchParams(namespace && { namespace })}`),
    revoke: (id, reason) =>
      call("POST", `keys/${encodeURIComponent(id)}/revoke`, reason === undefined ? {} : { reason }),
    async askLeaks(sha256) {
      const body = { leaks: sha256.map((sha256) => ({ sha256 })), dryRun: true };
      const { leaks }: { leaks?: readonly LeakJson[] } = await call("POST", "leaks", body);
      // Whoever is not known there is told that it was received, and no more.
      if (leaks === undefined) throw new Error(refusalMessage(target, 401, ""));
      return leaks;
    },
    async makeConsoleLink() {
      const { url }: { url: string } = await call("POST", "console-links");
      return url;
    },
    rotate: (id, revokeOld) => call("POST", `keys/${encodeURIComponent(id)}/rotate`, { revokeOld }),
  };
}

/** Asks again and again until the answer is what is waited for, or the time is up: then it is the last answer. */
export async function waitFor<T>(ask: () => Promise<T>, isDone: (answer: T) => boolean, withinMs: number): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (isDone(answer) || performance.now() > deadline) return answer;
    await delay(100);
  }
}

/** A flag says more than a variable, whichever of the two ways it is. */
async function chooseTarget(env: Environment, flags: ServerChoice): Promise<Target> {
  if (flags.server !== undefined && flags.data !== undefined) {
    throw new UsageError("--server and --data are two ways to the same: give one of them");
  }
  const server = flags.server ?? (flags.data === undefined ? setting(env, "server", undefined) : undefined);
  if (server !== undefined) return { url: serverUrl("server", server), token: await givenToken(env, flags) };
  const data = setting(env, "data", flags.data);
  if (data !== undefined) return runningUp(data);
  throw new UsageError("say where the keys are: --data DIR of a running keyplane up, or --server URL with a token");
}

/**
 * A URL that a flag names, without a slash at its end.
 *
 * @throws UsageError for anything else than http or https
 */
export function serverUrl(flag: string, text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text.replace(/\/+$/, "");
  throw new UsageError(`--${flag}: must be an http or https URL, such as https://keys.example.com`);
}

async function givenToken(env: Environment, flags: ServerChoice): Promise<string> {
  const file = setting(env, "token-file", flags.tokenFile);
  const token = (file === undefined ? (env.KEYPLANE_TOKEN ?? "") : await readFile(file, "utf8")).trim();
  const where = file ?? "KEYPLANE_TOKEN";
  if (token === "" && file === undefined)
    throw new UsageError("--token-file is needed, or the variable KEYPLANE_TOKEN");
  if (token.startsWith("inf_")) {
    throw new UsageError(`${where} holds an API key, which manages nothing: give the installation's token`);
  }
  if (!/^[\x21-\x7e]+$/.test(token)) throw new UsageError(`${where} holds no token: it must be one word on one line`);
  return token;
}

async function runningUp(data: string): Promise<Target> {
  if (!(await isRunning(data))) {
    throw new Error(`keyplane up does not run on ${data}: start it, then try again`);
  }
  const server = await readServerFile(data);
  if (server === undefined) throw new Error(`keyplane up on ${data} is not ready yet: try again in a moment`);
  return { url: server.url, token: (await readFile(bootstrapTokenFile(data), "utf8")).trim() };
}

async function send({ url, token }: Target, method: string, path: string, body?: object): Promise<Response> {
  try {
    return await fetch(`${url}/api/v1/${path}`, {
      method,
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (error) {
    throw new Error(
      `no answer from ${url} (${connectionErrorText(error)}): see that the server runs there, and that the URL is right`,
    );
  }
}

function parseJson<T>({ url }: Target, text: string): T {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${url} answers with something else than JSON: see that it is the URL of a keyplane server`);
  }
}

/** What a person should do about a refusal: the problem document says it, but for what only the caller knows. */
function refusalMessage({ url }: Target, status: number, text: string): string {
  if (status === 401) return `${url} refuses the token: give the one of this installation, by --token-file or --data`;
  try {
    const { code, detail }: { code?: unknown; detail?: unknown } = JSON.parse(text);
    if (typeof code === "string" && typeof detail === "string") return `${detail} (${status} ${code})`;
  } catch {
    // Not a problem document: not one of our servers.
  }
  return `${url} answers with ${status}: see that it is the URL of a keyplane server`;
}
