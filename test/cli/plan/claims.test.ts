import { expect, test } from "vitest";
import { type CurrentObject, makePlan } from "../../../cli/plan/make-plan.ts";
import { makeHome, team } from "../up.ts";

/** A team that is there, which claims `dev`, and holds what is given. */
function existing(name: string, creationTimestamp: string, holds: readonly string[] = []): CurrentObject {
  return {
    kind: "PlatformTeam",
    metadata: { name, namespace: "", creationTimestamp },
    spec: { namespaces: ["dev"], members: [], webhooks: [] },
    status: { namespaces: [...holds] },
  };
}

/** What a plan of these manifests says of new teams. */
async function planned(manifests: string, ...held: CurrentObject[]): Promise<string[]> {
  const home = makeHome();
  try {
    home.write("teams.yaml", manifests);
    const { objects } = await makePlan({
      ...{ paths: [home.manifests], stdin: undefined, held, isWhole: false, now: Date.now() },
      ...{
        lookups: { lastUsedAt: () => undefined, callersOf: () => undefined },
        findSecrets: async () => () => undefined,
      },
    });
    return objects
      .filter(({ action }) => action === "create")
      .flatMap(({ changes }) => changes.map(({ text }) => text));
  } finally {
    home.remove();
  }
}

const [holder, older, younger] = [
  existing("holder", "2026-01-03T00:00:00Z", ["dev"]),
  existing("zebra", "2026-01-01T00:00:00Z"),
  existing("ant", "2026-01-02T00:00:00Z"),
];

test("keyplane plan leaves a namespace with the team that holds it, though others are older", async () => {
  const texts = await planned(team("aardvark", "dev"), older, younger, holder);
  expect(texts.join()).toContain("dev is held by PlatformTeam holder");
});

test("keyplane plan gives a namespace that its holder gives up to the oldest team that claims it", async () => {
  const texts = await planned(team("aardvark", "dev") + team("holder", "lab"), older, younger, holder);
  expect(texts.join()).toContain("dev is held by PlatformTeam zebra");
});
