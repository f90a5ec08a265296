/**
 * Runs the program beside this file (`npm run example:pulumi`) against a running `keyplane up`. All that it keeps is in
 * a folder that is deleted at the end. It shows what would be made, makes it, uses a key, and destroys it all.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { LocalWorkspace, PulumiCommand } from "@pulumi/pulumi/automation/index.js";

const PROVIDER = join(import.meta.dirname, "../../infra/pulumi/provider/main.ts");
const data = resolve(process.argv[2] ?? ".keyplane");

const folder = mkdtempSync(join(tmpdir(), "keyplane-example-"));
try {
  await run();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function run(): Promise<void> {
  const { url, tokenFile } = findServer();
  const pulumiCommand = await PulumiCommand.get({ skipVersionCheck: true }).catch(() => {
    throw new Error(
      "this example needs the Pulumi CLI: install it (https://www.pulumi.com/docs/install/), see that `pulumi version` works, and run it again",
    );
  });
  for (const name of ["work", "state", "home", "bin"]) mkdirSync(join(folder, name));
  // Where the package is installed it is in node_modules/.bin: Pulumi.yaml has that.
  symlinkSync(PROVIDER, join(folder, "bin/pulumi-resource-keyplane"));
  const project = {
    name: "keyplane-example",
    runtime: "nodejs",
    backend: { url: `file://${join(folder, "state")}` },
    plugins: { providers: [{ name: "keyplane", path: join(folder, "bin") }] },
  };
  writeFileSync(join(folder, "work/Pulumi.yaml"), JSON.stringify(project));
  // A program is run anew by each command, and not taken from the cache of modules.
  let runs = 0;
  const program = () => import(`./index.ts?${runs++}`);
  const stack = await LocalWorkspace.createOrSelectStack(
    { stackName: "dev", projectName: project.name, program },
    {
      workDir: join(folder, "work"),
      pulumiHome: join(folder, "home"),
      pulumiCommand,
      envVars: {
        PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
        PULUMI_CONFIG_PASSPHRASE: randomBytes(16).toString("hex"),
        PULUMI_SKIP_UPDATE_CHECK: "true",
        KEYPLANE_URL: url,
        KEYPLANE_TOKEN_FILE: tokenFile,
      },
    },
  );
  const out = { onOutput: (text: string) => process.stdout.write(text), color: "never" } as const;
  await stack.preview(out);
  try {
    const { outputs } = await stack.up(out);
    const { status } = await fetch(`${url}/atoms`, {
      headers: { authorization: `Bearer ${outputs.keys?.value.production}` },
    });
    process.stdout.write(`\nGET ${url}/atoms with the production key: ${status}\n\n`);
  } finally {
    await stack.destroy(out);
  }
}

/** Reads what `keyplane up` writes of itself in its data folder. */
function findServer(): { url: string; tokenFile: string } {
  try {
    const { url }: { url: string } = JSON.parse(readFileSync(join(data, "server.json"), "utf8"));
    return { url, tokenFile: join(data, "bootstrap-token") };
  } catch {
    throw new Error(`no keyplane up runs on ${data}: start one in another terminal (npm start), then run this again`);
  }
}
