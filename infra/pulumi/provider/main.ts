#!/usr/bin/env node
/**
 * Entry point of `pulumi-resource-keyplane`. No other module is loaded until the version of Node is known to suffice.
 */
import { assertNodeVersion } from "../../../runtime/node-version.ts";

assertNodeVersion("pulumi-resource-keyplane");
await import("./engine/process.ts");
