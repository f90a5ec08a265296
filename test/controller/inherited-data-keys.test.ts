import { expect, it } from "vitest";
import { describeWorlds } from "./fixtures/setup.ts";
import { startWorld, type World } from "./fixtures/world.ts";
import { gateway, provider } from "./refused-credentials.ts";

describeWorlds("a gateway that names a data key as every object has one", (setup) => {
  it.each(["constructor", "__proto__"])("%s has no credential, and says so", async (dataKey, ) => {
  });
});
