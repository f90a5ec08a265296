/** The providers themselves, through a gateway: with what the environment has credentials for. Each asks for little. */
import { expect, test } from "vitest";
import { expectedOfProvider } from "../tried-models.ts";
import { PROVIDERS, tryProvider } from "./providers.ts";

for (const provider of PROVIDERS) {
  const { client, program, credential } = provider;
  const title = `${client.name} does through a gateway what it does without one, by ${credential}`;
  test.skipIf(!process.env[credential])(title, async () => {
    expect(await tryProvider(provider, process.env)).toEqual(expectedOfProvider(program));
  });
}
