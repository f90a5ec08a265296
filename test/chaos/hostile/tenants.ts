/** Who and what is in the store before the first call: the hostile team, another team, and the team of the probed keys. */
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { SCOPES, type Scope } from "../../../domain/access/scopes.ts";
import { API_CLUSTER } from "../../../domain/api-cluster.ts";
import { keyDigest, keyPrefix, mintKey } from "../../../domain/key/secret/key-format.ts";
import { change } from "../../../store/database/change.ts";
import type { Store } from "../../../store/database/store.ts";
import type { Keyring } from "../../../store/encryption/keyring.ts";
import { saveGateway } from "../../../store/gateways/gateways.ts";
import { reserveVersion } from "../../../store/keys/lifecycle/key-reservations.ts";
import { activateVersion } from "../../../store/keys/lifecycle/key-versions.ts";
import { saveLibrary } from "../../../store/libraries/libraries.ts";
import { PARTS_INDEX } from "../../memory/store/filled-library.ts";
import { gatewayDraft, libraryDraft, makeTeam, policyOf, reservationOf } from "../../store/fixtures.ts";
import { withoutIndexes } from "../../store/without-indexes.ts";

export const LIBRARY = "notes";
/** The model that every gateway with routes has a route for. */
export const MODEL = "fast";
/** Of each team: one gateway that reads bodies for their model, and one that streams them. */
export const GATEWAYS = {
  hostile: { routes: "hostile-routes", plain: "hostile-plain" },
  held: { routes: "held-routes", plain: "held-plain" },
  others: { routes: "others-routes", plain: "others-plain" },
} as const;

export type TenantKey = { readonly id: string; readonly plaintext: string };
export type Tenants = Awaited<ReturnType<typeof furnish>>;
export type TeamName = "hostile" | "others";

/** What the costliest search asks for: a word of every atom, and others of many. */
export const SEARCH_WORDS = Array.from({ length: 20 }, (_, n) => `word${n}`).join(" ");

/** @param atoms how many the hostile team has; the other one has a hundredth of them */
export async function furnish(
  store: Store,
  keyring: Keyring,
  { hostileUpstream, ownUpstream, atoms }: { hostileUpstream: string; ownUpstream: string; atoms: number },
) {
  const homes = await withoutIndexes(store.db, [PARTS_INDEX], async () => ({
    hostile: await makeHome("hostile", atoms),
    others: await makeHome("others", Math.ceil(atoms / 100)),
  }));
  const { hostile, others } = homes;
  await makeGateways(hostile, GATEWAYS.hostile, hostileUpstream);
  await makeGateways(hostile, GATEWAYS.held, ownUpstream);
  await makeGateways(others, GATEWAYS.others, ownUpstream);
  return {
    makeKey: (team: TeamName, scopes: readonly Scope[] = SCOPES) => makeTenantKey(store, homes[team], scopes),
  };

  async function makeHome(name: TeamName, count: number) {
    const home = await makeTeam(store, { cluster: API_CLUSTER, name, ownerUid: name, namespaces: [name] });
    const library = libraryDraft(home, { name: LIBRARY, displayName: LIBRARY, deletionPolicy: "Delete" });
    const { result } = await change(store, null, (tx) => saveLibrary(tx, library));
    const fill = sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
      select ${result.libraryId}, ${home.teamId}, 'everywhere word' || n % 20 || ' word' || n % 7 || ' word' || n % 3
          || repeat(' filling words of a longer statement', 6), '{}', n % 10, now(), now()
      from generate_series(1, ${count}::int) n`;
    // What the index keeps of so many atoms takes longer than a call may.
    await store.withConnection((db) => fill.execute(db));
    return home;
  }

  async function makeGateways(home: Home, { routes, plain }: { routes: string; plain: string }, baseUrl: string) {
    const upstream = { baseUrl, credential: "sk-provider" };
    const upstreams = [
      { ...upstream, name: "model", dialect: "openai" },
      { ...upstream, name: "batches", dialect: "gemini" },
    ] as const;
    const route = { model: MODEL, routeId: "r1", upstream: "model", upstreamModel: "large", fallbacks: [] };
    for (const publicId of [routes, plain]) {
      const named = { name: publicId, ownerUid: publicId, publicId };
      const draft = gatewayDraft(home, { ...named, upstreams, routes: publicId === routes ? [route] : [] });
      await change(store, null, (tx) => saveGateway(tx, draft, keyring));
    }
  }
}

type Home = Awaited<ReturnType<typeof makeTeam>>;

async function makeTenantKey(store: Store, home: Home, scopes: readonly Scope[]): Promise<TenantKey> {
  const plaintext = mintKey(randomBytes);
  const minted = { digest: keyDigest(plaintext), prefix: keyPrefix(plaintext), policy: policyOf({ scopes }) };
  const reservation = reservationOf(home, minted);
  const { id } = reservation.key;
  await change(store, null, async (tx) => {
    await reserveVersion(tx, reservation);
    await activateVersion(tx, { keyId: id, number: 1, overlapMs: 0 });
  });
  return { id, plaintext };
}
