/** What is limited for the whole installation, and by how much: each lane has callers of its own. */
import { randomBytes } from "node:crypto";
import { API_CLUSTER } from "../../../domain/api-cluster.ts";
import type { KeyPolicy } from "../../../domain/key/declaration/key-policy.ts";
import { keyDigest, keyPrefix, mintKey } from "../../../domain/key/secret/key-format.ts";
import { change } from "../../../store/database/change.ts";
import type { Store } from "../../../store/database/store.ts";
import type { Keyring } from "../../../store/encryption/keyring.ts";
import { saveGateway } from "../../../store/gateways/gateways.ts";
import { reserveVersion } from "../../../store/keys/lifecycle/key-reservations.ts";
import { activateVersion } from "../../../store/keys/lifecycle/key-versions.ts";
import type { TeamDraft } from "../../../store/teams/teams.ts";
import { gatewayDraft, makeTeam, policyOf, reservationOf } from "../../store/fixtures.ts";

/** What each answer of the upstream reports. */
export const TOKENS_OF_A_CALL = 100;

export type Lane = {
  readonly name: string;
  /** Calls a minute that the limit lets through, and how many at once after a rest. */
  readonly perMinute: number;
  readonly burst: number;
  readonly publicId: string;
  /** Used in turn. */
  readonly keys: readonly string[];
};

const SCOPE = { scope: "Installation" } as const;
const fast = { requestsPerMinute: 6_000, burst: 60, ...SCOPE };
const slow = { requestsPerMinute: 600, burst: 10, ...SCOPE };
const ofTeam = { requestsPerMinute: 1_200, burst: 20, ...SCOPE };
const tokens = { tokensPerMinute: 60_000, ...SCOPE };
const callsOfTokens = tokens.tokensPerMinute / TOKENS_OF_A_CALL;

/** Where lanes are made, and what their calls lead to. */
export type LaneHome = { readonly store: Store; readonly keyring: Keyring; readonly upstream: string };

/** Declares the teams, gateways and keys of the lanes whose limits hold for the installation. */
export function makeLimitedLanes(home: LaneHome): Promise<readonly Lane[]> {
  const rateLimit = (rate: typeof fast) => ({ perMinute: rate.requestsPerMinute, burst: rate.burst });
  return Promise.all([
    makeLane(home, { name: "a key's 6,000 requests", ...rateLimit(fast), policy: { rateLimit: fast } }),
    makeLane(home, { name: "a key's 600 requests", ...rateLimit(slow), policy: { rateLimit: slow } }),
    makeLane(home, {
      name: "a team's 1,200 requests",
      ...rateLimit(ofTeam),
      limits: { rate: ofTeam, concurrent: null },
      keys: 3,
    }),
    makeLane(home, {
      ...{ name: "a key's 60,000 tokens", perMinute: callsOfTokens, burst: callsOfTokens },
      policy: { tokenLimit: tokens },
    }),
  ]);
}

/** Declares a team, its gateway, and keys that are made of one policy. */
export async function makeLane(
  { store, keyring, upstream }: LaneHome,
  {
    name,
    perMinute,
    burst,
    policy = {},
    limits = null,
    keys = 1,
  }: Pick<Lane, "name" | "perMinute" | "burst"> & {
    readonly policy?: Partial<KeyPolicy>;
    readonly limits?: TeamDraft["limits"];
    readonly keys?: number;
  },
): Promise<Lane> {
  const home = await makeTeam(store, { cluster: API_CLUSTER, limits });
  const upstreams = [{ name: "model", dialect: "openai", baseUrl: upstream, credential: "sk-provider" }] as const;
  const gateway = gatewayDraft(home, { upstreams });
  await change(store, null, (tx) => saveGateway(tx, gateway, keyring));
  const made: string[] = [];
  for (let key = 0; key < keys; key++) {
    const plaintext = mintKey(randomBytes);
    const minted = { digest: keyDigest(plaintext), prefix: keyPrefix(plaintext) };
    const scopes = ["gateway:generate"] as const;
    const reservation = reservationOf(home, { ...minted, policy: policyOf({ scopes, ...policy }) });
    await change(store, null, async (tx) => {
      await reserveVersion(tx, reservation);
      await activateVersion(tx, { keyId: reservation.key.id, number: 1, overlapMs: 0 });
    });
    made.push(plaintext);
  }
  return { name, perMinute, burst, publicId: gateway.publicId, keys: made };
}
