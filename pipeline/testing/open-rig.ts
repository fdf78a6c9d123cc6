import { onTestFinished } from 'vitest';
import { createPipelineRig } from './pipeline-rig.ts';
import type { PipelineRig } from './pipeline-rig.ts';
import { startScriptedDestination } from '../../shared/testing/scripted-destination.ts';
import type { ScriptedDestination } from '../../shared/testing/scripted-destination.ts';

/** Opens a rig and a sink, which are closed when the test is finished. */
export async function openRig(
  natsUrl: string,
  databaseUrl: string,
  own: Readonly<Record<string, string>> = {},
): Promise<{ rig: PipelineRig; sink: ScriptedDestination }> {
  const rig = await createPipelineRig(natsUrl, databaseUrl, own);
  const sink = await startScriptedDestination();
  onTestFinished(async () => {
    await rig.close();
    await sink.close();
  });
  return { rig, sink };
}

/** Starts a pipeline, which is stopped when the test is finished. */
export async function startOn(rig: PipelineRig, instanceId?: string): ReturnType<PipelineRig['start']> {
  const pipeline = await rig.start(instanceId);
  onTestFinished(() => pipeline.stop());
  return pipeline;
}

/** `count` events of fifty visitors, with ids from `e<from>` on. */
export const numbered = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: `e${from + i}`, visitor: `v${i % 50}` }));
