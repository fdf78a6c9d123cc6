import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { readEnv } from '../../../shared/runtime/env.ts';
import { optionalText } from '../../../shared/runtime/variables.ts';
import { stackFolderEnv } from '../../../shared/command-line/local-stack.ts';

export const compareCountsEnv = {
  CONTROL_PLANE_URL: optionalText(
    'Address of the control plane whose events are counted; that of the local stack by default',
  ),
  ...stackFolderEnv,
};

const schema = Type.Object(compareCountsEnv);

export type CompareCountsEnv = Static<typeof schema>;

/** Where our counts come from. Throws EnvError with every problem. */
export function readCompareCountsEnv(
  source: Readonly<Record<string, string | undefined>> = process.env,
): CompareCountsEnv {
  return readEnv(schema, source, (path) => readFileSync(path, 'utf8'));
}
