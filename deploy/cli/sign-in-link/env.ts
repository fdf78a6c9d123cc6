import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { readEnv } from '../../../shared/runtime/env.ts';
import { stackFolderEnv } from '../../../shared/command-line/local-stack.ts';

const schema = Type.Object(stackFolderEnv);

/** The environment of the command beside a local stack. */
export function readSignInLinkEnv(): Static<typeof schema> {
  return readEnv(schema, process.env, (path) => readFileSync(path, 'utf8'));
}
