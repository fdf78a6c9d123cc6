import { readGatewayEnv } from '../../gateway/env.ts';
import { describeOwn } from '../../gateway/routes/openapi/openapi.ts';
import { createRoutes } from '../../gateway/routes/registry.ts';
import type { RoutesOptions } from '../../gateway/routes/registry.ts';
import { createUnpackingLimit, readRoutesSettings } from '../../gateway/routes/routes-settings.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';

/** The OpenAPI document of the ingest interface, as a gateway with default settings serves it. */
export function ingestDocument(): JsonObject {
  const env = readGatewayEnv({});
  const messageBytesMax = 8 * 1024 ** 2;
  const { routes } = createRoutes({
    ...answersNothing,
    isSecure: false,
    ...readRoutesSettings(env, 1, messageBytesMax, createUnpackingLimit()),
  });
  return describeOwn(routes) as JsonObject;
}

/** Stands for dependencies that routes use only when a request arrives, which never happens here. */
const unused = new Proxy(
  {},
  {
    get: (_, name) => {
      throw new Error(`routes that were opened only to be described must not use ${String(name)}`);
    },
  },
);
const answersNothing = {
  admission: unused,
  sources: unused,
  commit: unused,
  experiments: { controlPlane: undefined, clientAddress: unused },
} as Pick<RoutesOptions, 'admission' | 'sources' | 'commit' | 'experiments'>;
