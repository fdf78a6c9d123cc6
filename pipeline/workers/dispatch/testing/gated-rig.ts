import { connectLog } from '../../../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import { asLogUser } from '../../../../shared/testing/as-log-user.ts';
import { openLogGate } from '../../../../shared/testing/log-gate.ts';
import type { LogGate } from '../../../../shared/testing/log-gate.ts';
import { startScriptedDestination } from '../../../../shared/testing/scripted-destination.ts';
import type { ScriptedDestination } from '../../../../shared/testing/scripted-destination.ts';
import { httpEntity } from '../../../testing/account-config.ts';
import { createDispatcherRig } from './dispatcher-rig.ts';
import type { DispatcherRig } from './dispatcher-rig.ts';

/**
 * A dispatcher rig with a destination. `connection` reaches the log through a gate, which can hold or refuse messages,
 * or cut the connection.
 */
export type GatedRig = {
  readonly sink: ScriptedDestination;
  readonly rig: DispatcherRig;
  readonly gate: LogGate;
  readonly connection: LogConnection;
  close(): Promise<void>;
};

export async function openGatedRig(natsUrl: string): Promise<GatedRig> {
  const sink = await startScriptedDestination();
  const rig = await createDispatcherRig(natsUrl);
  rig.configure({ destinations: [httpEntity(rig.destinationId, `${sink.url}/hook`)] });
  const gate = await openLogGate(natsUrl);
  const connection = await connectLog({ url: asLogUser(gate.url, 'pipeline'), name: 'gated' });
  return {
    sink,
    rig,
    gate,
    connection,
    async close() {
      await Promise.all([rig.close(), connection.close(0)]);
      await Promise.all([sink.close(), gate.close()]);
    },
  };
}
