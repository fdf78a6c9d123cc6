import { stackFolderEnv } from '../../../shared/command-line/local-stack.ts';
import { defineEnv } from '../../../shared/runtime/env.ts';
import { optionalText } from '../../../shared/runtime/variables.ts';

/** Where to read the control plane's counts. */
export const { variables: compareCountsEnv, read: readCompareCountsEnv } = defineEnv({
  CONTROL_PLANE_URL: optionalText(
    'Address of the control plane whose events are counted; that of the local stack by default',
  ),
  ...stackFolderEnv,
});
