"""Build an OpenAI client, as every program that uses the SDK does first. No request is sent."""

import openai

openai.OpenAI(api_key="none", base_url="http://127.0.0.1:9/v1")
print("the client was built")
