import type { Environment } from "../../../domain/environment.ts";
import { startServer } from "../../../processes/main.ts";
import type { Clock } from "../../../runtime/clock.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { createLog } from "../../../runtime/log.ts";
import { type ManagementToken, managementToken } from "../../../server/auth/management/management-token.ts";
import { parseServerConfig } from "../../../server/context/config.ts";
import type { Store } from "../../../store/database/store.ts";
import { keyring } from "../key-index/replica-fixtures.ts";
import { type Described, descriptionOf } from "../openapi/described.ts";

export const TOKEN = "kpt_the-token-of-this-installation";

/** An answer of the management API; members of the body are read as what a test expects of them. */
// biome-ignore lint/suspicious/noExplicitAny: a body is whatever the API says, and each test checks what it says
export type ApiResponse = { status: number; body: any; text: string; headers: Headers };

export type ApiRequest = [method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>];

/** Asks the management API of a server something, with a body where the request has one. */
export async function ask(
  url: string,
  token: string,
  ...[method, path, body, headers = {}]: ApiRequest
): Promise<ApiResponse> {
  const answer = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: JSON.parse(text), text, headers: answer.headers };
}

const read = async (url: string) => descriptionOf(await (await fetch(`${url}/openapi.json`)).text());

/** By settings: servers of the same ones describe themselves alike, and each makes its description anew. */
const descriptions = new Map<string, ReturnType<typeof read>>();

function readDescription(url: string, env: Environment): ReturnType<typeof read> {
  const settings = JSON.stringify(env);
  const known = descriptions.get(settings) ?? read(url);
  descriptions.set(settings, known);
  return known;
}

/** The operation that a target belongs to: one that it names in full before one with a parameter. */
function operationAt(operations: readonly Described[], method: string, target: string): Described | undefined {
  const [path = ""] = target.split("?");
  const fitting = operations.filter(
    (one) => one.method === method && new RegExp(`^${one.path.replace(/\{\w+\}/g, "[^/]+")}$`).test(path),
  );
  return fitting.find((one) => one.path === path) ?? fitting[0];
}

export type Api = Awaited<ReturnType<typeof startApi>>;

/** A replica of the real server, with what it logs; its own clock may be a wrong one. */
export async function startApi(
  store: Store,
  env: Environment = {},
  clock: Clock = systemClock,
  token: ManagementToken = managementToken("bootstrap-token", TOKEN),
) {
  const lines: string[] = [];
  const server = await startServer({
    store,
    config: parseServerConfig(env, { port: "0", adminPort: "0" }),
    keyring,
    clock,
    log: createLog("debug", { write: (line) => lines.push(line) }),
    managementToken: token,
  });
  await server.whenCurrent;

  /** What is refused anywhere in these tests is refused as it is described. */
  const send = async (...asked: ApiRequest): Promise<ApiResponse> => {
    const answer = await ask(server.url, TOKEN, ...asked);
    if (answer.status < 400) return answer;
    const { operations, judge } = await readDescription(server.url, env);
    const [method, path] = asked;
    const one = operationAt(operations, method, `/api/v1${path}`);
    const headers = Object.fromEntries(answer.headers);
    const faults = one === undefined ? [] : judge.faultsOf(one, { status: answer.status, headers, text: answer.text });
    if (faults.length > 0) throw new Error(`${one?.name} is not described so: ${faults.join("; ")}`);
    return answer;
  };

  return {
    url: server.url,
    adminUrl: server.adminUrl,
    lines,
    send,
    /** How the memory answers a key: 200 while it works. */
    async tryKey(key: string): Promise<number> {
      const { status } = await fetch(`${server.url}/atoms`, { headers: { "x-api-key": key } });
      return status;
    },
    close: server.close,
  };
}
