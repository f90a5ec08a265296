import { expect, it } from "vitest";
import { databaseTime } from "../../store/database/times.ts";
import { recordOutcomes } from "../../store/gateways/upstream-outcomes.ts";
import { until } from "../env/until.ts";
import type { WorldTests } from "./fixtures/setup.ts";
import { type Manifest, SOON, startWorld, type World } from "./fixtures/world.ts";

export const provider = (value: string): Manifest => ({
  kind: "Secret",
  name: "provider",
  stringData: { "api-key": value },
});
export const gateway: Manifest = {
  kind: "ModelGateway",
  name: "main",
  spec: {
    upstreams: [
      { name: "openai", dialect: "openai", baseURL: "https://a.example", credentialRef: { name: "provider" } },
      { name: "spare", dialect: "gemini", baseURL: "https://b.example", credentialRef: { name: "provider" } },
    ],
  },
};

const accepted = (world: World) => world.condition("CredentialsAccepted", "main", "ModelGateway");
const lines = (world: World) => world.lines.filter((line) => line.includes("CredentialRefused"));

/** Has a server have heard of the upstream `openai`, so many milliseconds ago. */
export async function heard(world: World, what: "acceptedAt" | "refusedAt", ago: number): Promise<void> {
  const gatewayId = String(world.get("ModelGateway", "main")?.status?.gatewayID);
  const nothing = { answeredAt: null, status: null, failedAt: null, failure: null, acceptedAt: null, refusedAt: null };
  const at = (await databaseTime(world.store.db)) - ago;
  await recordOutcomes(world.store.db, [{ gatewayId, upstream: "openai", ...nothing, [what]: at }]);
}

/** A gateway whose credential a provider refuses. */
export const withRefusedCredential: WorldTests = (setup) => {
  it("says so beside Ready and in one event, until calls succeed again or the credential is another", async (context) => {
    const world = await startWorld(context, { ...setup(), ...SOON }, provider("sk-1"), gateway);
    expect(accepted(world)).toBe("True/NotRefused");
    await heard(world, "refusedAt", 0);
    await until("it is refused", () => accepted(world) === "False/CredentialRefused");
    expect(world.condition("Ready", "main", "ModelGateway")).toBe("True/Ready");
    const message =
      "The provider refuses its credential: upstream openai (openai) refuses data key api-key of Secret provider." +
      " Write the provider's present credential into that Secret, or name one by spec.upstreams[].credentialRef: the next calls are made with it, without a restart.";
    const conditions = world.get("ModelGateway", "main")?.status?.conditions;
    expect(conditions?.find(({ type }) => type === "CredentialsAccepted")?.message).toBe(message);
    await world.restart();
    expect(accepted(world)).toBe("False/CredentialRefused");
    expect(lines(world)).toEqual([expect.stringContaining(`CredentialRefused: ${message}`)]);

    await world.advance(2 * 60_000);
    await heard(world, "acceptedAt", -1);
    await until("calls succeed again", () => accepted(world) === "True/NotRefused");

    await heard(world, "refusedAt", -2);
    await until("it is refused again", () => accepted(world) === "False/CredentialRefused");
    await world.declare(provider("sk-2"));
    await until("the credential is another", () => accepted(world) === "True/NotRefused");
    expect(lines(world)).toHaveLength(2);
  });
};
