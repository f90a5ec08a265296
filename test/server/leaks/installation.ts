import { createHash, generateKeyPairSync, type KeyObject, sign as signBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Store } from "../../../store/database/store.ts";
import { openMigrated } from "../../env/database/engines.ts";
import { unique } from "../../store/fixtures.ts";
import { startApi } from "../management/api.ts";
import { makeSigner, sign, startIssuer } from "../management/issuer.ts";

/** Whose reports there are: of the team's roles, of another team's admin, and of an unknown caller. */
export const WHO = {
  admin: { sub: "ann" },
  member: { sub: "ben" },
  viewer: { sub: "cora" },
  stranger: { sub: "eve" },
} as const;
export type Who = keyof typeof WHO;

/** Where a GitHub on loopback shows the keys that it signs with. */
export async function startGithub() {
  const github = {
    url: "",
    shown: [] as { key_identifier: string; key: string; is_current: boolean }[],
    away: false,
    asked: 0,
    close: () => void server.close(),
  };
  const server = createServer((_request, response) => {
    github.asked++;
    response.statusCode = github.away ? 503 : 200;
    response.end(JSON.stringify({ public_keys: github.shown }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  github.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/meta/public_keys/secret_scanning`;
  return github;
}

export type GithubKey = { readonly id: string; readonly privateKey: KeyObject };

/** A key that GitHub signs with, as it shows it. */
export function makeGithubKey(id: string, namedCurve = "P-256") {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve });
  const key = publicKey.export({ type: "spki", format: "pem" }).toString();
  return { id, privateKey, shown: { key_identifier: id, key, is_current: true } };
}

/** The headers of a body that this key signs, as GitHub writes them. */
export function signedBy({ id, privateKey }: GithubKey, body: string): Record<string, string> {
  return {
    "content-type": "application/json",
    "Github-Public-Key-Identifier": id,
    "Github-Public-Key-Signature": signBytes("sha256", Buffer.from(body), privateKey).toString("base64"),
  };
}

export const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

export type Installation = Awaited<ReturnType<typeof startInstallation>>;

/** A server with an issuer and a GitHub, and two teams, whose leaked keys are revoked in the one that says so. */
export async function startInstallation(opened?: Store) {
  const store = opened ?? (await openMigrated());
  const issuer = await startIssuer();
  const signer = await makeSigner("k");
  issuer.keys = [signer.jwk];
  const github = await startGithub();
  const api = await startApi(store, {
    KEYPLANE_OIDC_ISSUER: issuer.url,
    KEYPLANE_OIDC_AUDIENCE: "keyplane",
    KEYPLANE_LEAKS_GITHUB_KEYS_URL: github.url,
  });
  const members = (["admin", "member", "viewer"] as const).map((role) => ({ role, subject: WHO[role].sub }));
  const make = async (spec: object) => {
    const name = unique("team");
    await api.send("POST", "/teams", { name, spec });
    return name;
  };
  const teams = {
    alerting: await make({ members }),
    revoking: await make({ members, leaks: { action: "Revoke" } }),
    theirs: await make({ members: [{ role: "admin", subject: WHO.stranger.sub }], leaks: { action: "Revoke" } }),
  };

  /** Posts a body as it stands. */
  async function post(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) {
    const answer = await fetch(`${api.url}/api/v1/leaks`, { method: "POST", body, headers });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  }

  return {
    ...{ api, store, github, teams, post, issuer: issuer.url },
    async makeKey(team: keyof typeof teams, spec: object = { preset: "MCPReadOnly" }) {
      const { status, body } = await api.send("POST", "/keys", { name: unique("key"), team: teams[team], spec });
      // Without its secret a report of it would be malformed, and be answered all the same.
      if (status !== 201) throw new Error(`no key was made: ${status} ${body.code}`);
      const { id, name, prefix, secret }: Record<"id" | "name" | "prefix" | "secret", string> = body;
      return { id, name, prefix, secret };
    },
    async report(who: Who, leaks: readonly object[], more: object = {}) {
      const token = await sign(issuer, signer, Date.now(), { claims: WHO[who] });
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const { status, text } = await post(JSON.stringify({ leaks, ...more }), headers);
      return { status, text, body: JSON.parse(text) };
    },
    async close() {
      await api.close();
      await store.close();
      issuer.close();
      github.close();
    },
  };
}
