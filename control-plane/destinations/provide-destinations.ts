import { readEgressRanges } from '../../shared/egress/egress-rules.ts';
import type { TokenSource } from '../../shared/egress/oauth/token-source.ts';
import type { Scope } from '../../shared/runtime/scope.ts';
import type { Services } from '../api/services.ts';
import { createDestinationTests, destinationTests, readDestinationTestSettings } from './destination-tests.ts';
import type { DestinationTests } from './destination-tests.ts';

type DestinationVariables = Parameters<typeof readEgressRanges>[0] & Parameters<typeof readDestinationTestSettings>[0];

export function provideDestinations(
  env: DestinationVariables,
  tokens: TokenSource,
  services: Services,
  scope: Scope,
): DestinationTests {
  const tests = createDestinationTests({
    egress: readEgressRanges(env),
    ...readDestinationTestSettings(env),
    tokens,
  });
  services.provide(destinationTests, tests);
  // Tests end before the HTTP server, because the reply to a test request waits for the end of the test.
  return scope.use('destination tests', tests, (one) => one.stop(), { endsBefore: 'http' });
}
