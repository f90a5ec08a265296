/** A gateway of a team whose one upstream the test answers for, and calls of it. */
import { PRESETS } from "../../domain/access/scopes.ts";
import type { Store } from "../../store/database/store.ts";
import type { Keyring } from "../../store/encryption/keyring.ts";
import { saveGateway } from "../../store/gateways/gateways.ts";
import { storeKey } from "../server/key-index/replica-fixtures.ts";
import { gatewayDraft, type Home, policyOf, run } from "../store/fixtures.ts";

/** As a flag of a server: upstreams of tests are on loopback. */
export const LOOPBACK_UPSTREAMS = { allowPrivateUpstreams: "127.0.0.0/8" };

/** Stores the gateway `main`, or another credential of it. */
export async function saveMainGateway(
  store: Store,
  home: Home,
  { baseUrl, credential = "sk-x" }: { readonly baseUrl: string; readonly credential?: string },
  keyring: Keyring,
): Promise<void> {
  const upstreams = [{ name: "model", dialect: "openai", baseUrl, credential }] as const;
  const draft = gatewayDraft(home, { name: "main", ownerUid: "main", publicId: "main", upstreams });
  await run(store, (tx) => saveGateway(tx, draft, keyring));
}

/** A stored key that may call every gateway of its team. */
export function storeGatewayKey(store: Store, home: Home) {
  return storeKey(store, home, { policy: policyOf({ scopes: PRESETS.GatewayDefault }) });
}

/** Has the gateway `main` answer one request; as a stream where the test's upstream answers with one. */
export function callMainGateway(
  server: { readonly url: string },
  plaintext: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${server.url}/g/main/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${plaintext}`, "content-type": "application/json", ...headers },
    body: '{"model":"m","stream":true}',
  });
}
