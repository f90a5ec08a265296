import { expect, test } from "vitest";
import { readConfig } from "../../../infra/pulumi/provider/config.ts";

/** A destroy and a refresh work with the configuration that the last update left in the state. */
const OF_LAST_UPDATE = "before `pulumi up`: a destroy or refresh has the configuration of the last update";

test.each([
  [{}, {}, "KEYPLANE_URL", `\`pulumi config set keyplane:url https://keys.example.com\` ${OF_LAST_UPDATE}`],
  [
    { url: "https://keys.example.com" },
    {},
    "KEYPLANE_TOKEN_FILE",
    `\`pulumi config set keyplane:tokenFile FILE\` ${OF_LAST_UPDATE}`,
  ],
])(
  "a configuration of %j says first what helps at once, and what helps the next update",
  (values, env, variable, set) => {
    const message = refusalOf(values, env);
    expect(message).toContain(variable);
    expect(message.indexOf(variable)).toBeLessThan(message.indexOf(set));
  },
);

function refusalOf(values: Record<string, string>, env: Record<string, string>): string {
  try {
    readConfig(values, env);
  } catch (error) {
    return String(error);
  }
  return expect.fail("it was accepted");
}
