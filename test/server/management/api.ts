import type { Environment } from "../../../domain/environment.ts";
import type { Clock } from "../../../runtime/clock.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { createLog } from "../../../runtime/log.ts";
import { type ManagementToken, managementToken } from "../../../server/auth/management-token.ts";
import { parseServerConfig } from "../../../server/config.ts";
import { startServer } from "../../../server/main.ts";
import type { Store } from "../../../store/database/store.ts";
import { keyring } from "../key-index/replica-fixtures.ts";

export const TOKEN = "kpt_the-token-of-this-installation";

/** An answer of the management API; members of the body are read as what a test expects of them. */
// biome-ignore lint/suspicious/noExplicitAny: a body is whatever the API says, and what it should say is the test's to tell
export type ApiResponse = { status: number; body: any; text: string; headers: Headers };

export type Asked = [method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>];

/** Asks the management API of a server something, with a body where the request has one. */
export async function ask(
  url: string,
  token: string,
  ...[method, path, body, headers = {}]: Asked
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

  const send = (...asked: Asked) => ask(server.url, TOKEN, ...asked);

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
