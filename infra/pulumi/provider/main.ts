#!/usr/bin/env node
/** `pulumi-resource-keyplane`. Nothing else is loaded before Node is known to have what it needs. */
import { assertNodeVersion } from "../../../runtime/node-version.ts";

assertNodeVersion("pulumi-resource-keyplane");
await import("./engine/process.ts");
