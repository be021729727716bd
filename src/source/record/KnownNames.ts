/** The names by which members are recognized, the preferred ones first, in the form that `plain` returns. */
const words = (text: string): ReadonlyArray<string> => text.split(" ")
const wordSet = (text: string): ReadonlySet<string> => new Set(words(text))

export const plain = (name: string): string => name.trim().toLowerCase().replaceAll(/[ -]/g, "_")

export const promptsOfConversations = words("prompt instruction question input")
export const conversations = words("messages conversations conversation dialog dialogue")
export const promptLists = [...conversations, ...words("context history input")]
export const promptTexts = words(
  "instruction question query input problem user_prompt context history user_input user_query user_message post",
)
export const systemPrompts = words("system system_prompt system_message")
export const histories = words(
  "history chat_history conversation_history dialog_history dialogue_history message_history past_messages previous_messages previous_turns context",
)
export const contexts = words(
  "context contexts passage passages document documents article background paragraph paragraphs evidence knowledge " +
    "source_text source_document source_documents reference_text retrieved_context retrieved_contexts retrieved_documents " +
    "retrieved_passages search_results premise story transcript",
)
export const partsOfPrompts: ReadonlySet<string> = new Set([
  "prompt",
  ...promptTexts,
  ...promptLists,
  ...systemPrompts,
  ...histories,
  ...contexts,
])
export const media =
  /^(?:(?:input|prompt|question|query|user|instruction|context)_)?(?:images?|imgs?|pictures?|photos?|screenshots?|videos?|audios?|media|multimodal_data|multi_modal_data|pixel_values|attachments?)(?:_?\d+|_?(?:path|file|url|uri|name|filename|bytes|base64|b64|data|content)s?)*$/
export const mediaColumns = words("image images video videos audio audios")

export const completionLists = words(
  "completions responses answers outputs candidates generations choices samples predictions replies summaries",
)
export const elementTexts = words(
  "completion response output answer text content generation generated_text message messages value reply",
)
export const elementModels = words("model model_id model_name generator")
export const completionPairs = [words("chosen rejected"), words("preferred_output non_preferred_output")] as const
export const completionTexts = words("completion response output generation generated_text model_output model_response")
export const otherCompletionTexts = words("answer prediction candidate reply assistant chosen")
export const completionStems = words(
  "response output completion answer generation generations candidate assistant conversation reply summary human_ref model bot chatbot system agent",
)
export const namingStems = wordSet("model bot chatbot system agent")
export const comparedColumns = [
  words("baseline control champion production incumbent left"),
  words("candidate treatment variant experiment challenger test right"),
] as const
export const aboutCompletions = wordSet(
  "model models model_name model_id id ids name names len length token tokens num_tokens token_count lang language score scores " +
    "rating ratings rank ranks type types source sources time date timestamp format role roles label labels count counts url urls " +
    "hash metadata meta prompt key keys index status finish_reason category text_length preference winner annotator annotation annotations",
)

export const promptKeys = words("prompt_id question_id instruction_id query_id problem_id")
export const otherKeys = words(
  "item_id group_id group id key task_id example_id instance_id conversation_id uid idx index",
)
export const ids = words("id item_id uid uuid")
export const questionIds = words("question_id")
export const golds = words(
  "label winner preference preferred best best_response best_completion better_response_id gold choice",
)
export const completionWords = words(
  "model response output completion answer generation candidate assistant option conversation system",
)
export const datasetMembers = words("item_id task_id chosen_index rejected_index")

export const models = words("model model_id model_name generator model_used llm engine")
export const modelLists = words("models model_names generators generation_models generation_model")
export const modelColumnStems = words("model models model_name model_id generator llm")
export const modelFamilies = wordSet(
  "alpaca aya baichuan bard bloom bloomz chatglm chatgpt claude davinci dbrx deepseek dolly ernie exaone falcon flan gemini gemma glm " +
    "gpt granite grok guanaco hermes hunyuan internlm jamba kimi koala llama mistral mixtral mpt nemotron oasst olmo openassistant " +
    "orca palm phi pythia qwen qwq smollm stablelm starcoder starling tulu ultralm vicuna wizardlm yi zephyr dpo ppo rlhf sft",
)
export const genericWords = wordSet(
  "response output completion answer generation reply summary prediction candidate assistant model text option choice conversation generated " +
    "chosen rejected preferred dispreferred non better worse best worst good bad winner loser winning losing win lose " +
    "accepted refused positive negative pos neg left right first second third fourth fifth one two three four five other",
)

export const aboutMessages = wordSet(
  "id index turn turn_id message_id parent_id timestamp created_at date language lang tokens num_tokens token_count weight loss train " +
    "masked mask markdown toxic redacted identifier",
)

const aboutItems: ReadonlySet<string> = new Set([
  ...aboutCompletions,
  ...promptKeys,
  ...otherKeys,
  ...ids,
  ...golds,
  ...models,
  ...modelLists,
  ...words(
    "category topic domain task subject difficulty split dataset subset tags notes comment rationale reason explanation author expert user",
  ),
])
export const isAboutItem = (name: string): boolean =>
  aboutItems.has(name) || /_(?:id|at|by|model|name|score|url)$/.test(name)
