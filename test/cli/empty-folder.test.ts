import { expect, it } from "vitest";
import { keyplane, makeHome, startUp } from "./up.ts";

it("keyplane up runs on a folder without a declaration, for what the management API makes", async () => {
  const home = makeHome();
  const up = await startUp(home);
  try {
    expect(await keyplane(["get", "keys", "--data", home.data])).toMatchObject({ code: 0, out: "there are none\n" });
  } finally {
    await up.stop();
    home.remove();
  }
});
