import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { createVersion } from './create-version.ts';
import type { VersionRequest } from './create-version.ts';
import type { Publishing } from './publish-version.ts';
import { publishVersion } from './publish-version.ts';

/**
 * Creates a version of the draft and makes it live, in the caller's transaction. Throws a 409 if that would change
 * nothing, and a 400 if it cannot be published. During another publish of the account it waits (see `edit`), and then
 * publishes the remaining changes.
 */
export async function publishDraft(
  editing: Editing,
  request: VersionRequest,
  { secretBox, documentBytesMax }: { readonly secretBox: SecretBox; readonly documentBytesMax: number },
): Promise<Publishing> {
  const { id, content } = await createVersion(editing, request, { secretBox, toPublish: true });
  return publishVersion(editing, id, documentBytesMax, content);
}
