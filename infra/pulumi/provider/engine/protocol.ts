/**
 * Libraries below the engine's protocol, from `@pulumi/pulumi` itself: its generated code accepts messages of no other
 * copy, and a package manager may have put them where only that package finds them.
 */
import { createRequire } from "node:module";

const ofPulumi = createRequire(createRequire(import.meta.url).resolve("@pulumi/pulumi"));

export const grpc: typeof import("@grpc/grpc-js") = ofPulumi("@grpc/grpc-js");
export const { Struct }: typeof import("google-protobuf/google/protobuf/struct_pb.js") = ofPulumi(
  "google-protobuf/google/protobuf/struct_pb.js",
);
export const { Empty }: typeof import("google-protobuf/google/protobuf/empty_pb.js") = ofPulumi(
  "google-protobuf/google/protobuf/empty_pb.js",
);
export const { Any }: typeof import("google-protobuf/google/protobuf/any_pb.js") = ofPulumi(
  "google-protobuf/google/protobuf/any_pb.js",
);
