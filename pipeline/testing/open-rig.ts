import { onTestFinished } from 'vitest';
import { createPipelineRig } from './pipeline-rig.ts';
import type { PipelineRig } from './pipeline-rig.ts';
import { startScriptedSink } from './scripted-sink.ts';
import type { ScriptedSink } from './scripted-sink.ts';

/** A rig and a sink that are closed when the test is finished. */
export async function openRig(
  natsUrl: string,
  databaseUrl: string,
  own: Readonly<Record<string, string>> = {},
): Promise<{ rig: PipelineRig; sink: ScriptedSink }> {
  const rig = await createPipelineRig(natsUrl, databaseUrl, own);
  const sink = await startScriptedSink();
  onTestFinished(async () => {
    await rig.close();
    await sink.close();
  });
  return { rig, sink };
}

/** Starts a pipeline that is stopped when the test is finished. */
export async function startOn(rig: PipelineRig, instanceId?: string): ReturnType<PipelineRig['start']> {
  const pipeline = await rig.start(instanceId);
  onTestFinished(() => pipeline.stop());
  return pipeline;
}

/** Events `e<from>` and on, of fifty visitors. */
export const numbered = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: `e${from + i}`, visitor: `v${i % 50}` }));
