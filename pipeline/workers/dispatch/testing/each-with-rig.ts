import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { NatsServer } from '../../../../shared/embedded/nats/nats-server.ts';
import { startScriptedDestination } from '../../../../shared/testing/scripted-destination.ts';
import type { ScriptedDestination } from '../../../../shared/testing/scripted-destination.ts';
import { startTestNats } from '../../../../shared/testing/servers.ts';
import { createDispatcherRig } from './dispatcher-rig.ts';
import type { DispatcherRig } from './dispatcher-rig.ts';

export type TestRig = { readonly nats: NatsServer; readonly sink: ScriptedDestination; readonly rig: DispatcherRig };

/**
 * Provides a log for a test file. Before each test of the file, opens a destination and a rig, and passes them to
 * `use`. A file that restarts the log server passes `ownNats`, and starts and stops the server itself.
 */
export function eachWithRig(use: (opened: TestRig) => void, ownNats?: () => NatsServer): void {
  let started: NatsServer;
  let opened: TestRig;
  if (ownNats === undefined) {
    beforeAll(async () => {
      started = await startTestNats();
    });
    afterAll(() => started.stop());
  }
  beforeEach(async () => {
    const nats = ownNats?.() ?? started;
    opened = { nats, sink: await startScriptedDestination(), rig: await createDispatcherRig(nats.url) };
    use(opened);
  });
  afterEach(async () => {
    await opened.rig.close();
    await opened.sink.close();
  });
}
