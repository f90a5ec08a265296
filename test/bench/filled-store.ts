import { type RawBuilder, sql } from "kysely";
import { PRESETS } from "../../domain/access/scopes.ts";
import { API_CLUSTER } from "../../domain/api-cluster.ts";
import type { KeyPolicy } from "../../domain/key/declaration/key-policy.ts";
import { keyDigest, keyPrefix } from "../../domain/key/secret/key-format.ts";
import { change, type Tx } from "../../store/database/change.ts";
import { toDigest } from "../../store/database/digest.ts";
import { migrate } from "../../store/database/migrate/migrate.ts";
import type { Store } from "../../store/database/store.ts";
import type { Keyring } from "../../store/encryption/keyring.ts";
import { saveGateway } from "../../store/gateways/gateways.ts";
import { reserveVersion } from "../../store/keys/lifecycle/key-reservations.ts";
import { gatewayDraft, makeTeam, policyOf, reservationOf } from "../store/fixtures.ts";
import { PROVIDER_CREDENTIAL } from "./traffic.ts";

/** Rows of one statement. */
const CHUNK = 2_000;

const BASE64_TO_32 = sql`'ABCDEFGHIJKLMNOPQRSTUVWXYZ0189+/', 'abcdefghijklmnopqrstuvwxyz234567'`;
/** The id of a key by its number: in the form that all ids have, and as evenly spread. */
export const keyIdOf = (n: RawBuilder<unknown>): RawBuilder<string> =>
  sql`'key_' || translate(left(encode(sha256(${n}::text::bytea), 'base64'), 20), ${BASE64_TO_32})`;

/** Copies a key to those of these numbers, without its versions. */
export async function copyKey(tx: Tx, id: string, from: number, to: number): Promise<void> {
  await sql`insert into keys (id, cluster, namespace, name, team_id, source, state, display_name, scopes,
      gateway_bound, library_mode, generation)
    select ${keyIdOf(sql`n`)}, cluster, namespace, 'bench' || n, team_id, source, state, '', scopes, gateway_bound,
      library_mode, generation
    from keys, generate_series(${from}::int, ${to}::int) n where id = ${id}`.execute(tx);
}

/**
 * Fills a database with a team that has a gateway for each public id and its upstream, and a usable key for each of the
 * plaintexts.
 *
 * @param policy of the first key; its copies have no limits
 */
export async function fillStore(
  store: Store,
  keyring: Keyring,
  upstreamUrls: Readonly<Record<string, string>>,
  plaintexts: readonly string[],
  policy: Partial<KeyPolicy> = {},
): Promise<void> {
  await migrate(store);
  // As the management API's: what a cluster does not declare any more, its controller takes away.
  const home = await makeTeam(store, { cluster: API_CLUSTER });
  const [first = "", ...others] = plaintexts;
  const version = { digest: keyDigest(first), prefix: keyPrefix(first) };
  const template = reservationOf(home, { ...version, policy: policyOf({ scopes: PRESETS.GatewayDefault, ...policy }) });
  await change(store, null, async (tx) => {
    for (const [publicId, baseUrl] of Object.entries(upstreamUrls)) {
      const upstreams = [{ name: "model", dialect: "openai", baseUrl, credential: PROVIDER_CREDENTIAL }] as const;
      const named = { name: publicId, ownerUid: publicId, publicId };
      await saveGateway(tx, gatewayDraft(home, { ...named, upstreams }), keyring);
    }
    await reserveVersion(tx, template);
  });
  for (let from = 0; from < others.length; from += CHUNK) {
    const chunk = others.slice(from, from + CHUNK);
    // The others are the first one's copies, not reserved one by one, which would take minutes; and without the limits of
    // `change`, which cut off a writer that a busy machine holds up.
    await store.db.transaction().execute(async (tx) => {
      await copyKey(tx, template.key.id, from, from + chunk.length - 1);
      await sql`insert into key_versions (key_id, number, digest, prefix, state, source_kind, minted_at)
        select ${keyIdOf(sql`(${from}::int + n - 1)`)}, 1, digest, prefix, 'active', 'minted', now()
        from unnest(${chunk.map((key) => toDigest(keyDigest(key)))}::bytea[], ${chunk.map(keyPrefix)}::text[])
          with ordinality as bench (digest, prefix, n)`.execute(tx);
    });
  }
}
