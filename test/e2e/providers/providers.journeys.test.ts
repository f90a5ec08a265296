import { afterAll, beforeAll, expect, it } from "vitest";
import { expectedOfProvider } from "../tried-models.ts";
import { PROVIDERS, tryProvider } from "./providers.ts";
import { type ProviderStub, startProviderStub } from "./stub.ts";

let stub: ProviderStub;
beforeAll(async () => {
  stub = await startProviderStub();
});
afterAll(() => stub.close());

// What npm run test:providers asks of a provider, where there is no credential to ask with.
it.each(PROVIDERS)("test:providers asks $client.name's provider by the variables that it names", async (provider) => {
  const { credential, baseUrl, model, path, program } = provider;
  const env = { [credential]: "a-credential", [baseUrl[0]]: `${stub.url}${path}`, [model[0]]: "small" };
  const tried = await tryProvider(provider, env);
  expect(tried).toEqual(expectedOfProvider(program));
  expect(tried.operations.chat).toMatch("You asked for small.");
});
