# The image of keyplane: docs/decisions/image.md. Both bases are arguments: a registry's own copy, or a digest, as in
# gcr.io/distroless/nodejs26-debian13:nonroot@sha256:...
ARG BUILD_BASE=node:26.10.0-trixie-slim
ARG RUN_BASE=gcr.io/distroless/nodejs26-debian13:nonroot

# What is built is JavaScript, the same for every architecture: it is built once, on the machine's own.
FROM --platform=$BUILDPLATFORM ${BUILD_BASE} AS build
WORKDIR /checkout
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
# What keyplane version says that it was built of: git is not in here.
ARG KEYPLANE_COMMIT
RUN node scripts/image.ts /keyplane

FROM ${RUN_BASE}
COPY --from=build /keyplane /keyplane
ENV NODE_ENV=production
USER 65532:65532
EXPOSE 8080 8081
ENTRYPOINT ["/nodejs/bin/node", "/keyplane/dist/cli/main.js"]
